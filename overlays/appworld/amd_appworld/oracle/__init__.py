"""AppWorld's own solutions as a scripted model, read from a root when it starts; nothing of them is kept here.

``solution``: a solution's cells; ``slips``: the mistakes that it makes on its way; ``player``: the model.
"""
