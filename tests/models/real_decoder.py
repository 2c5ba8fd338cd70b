"""Makes decoder_32_layers.edge.txt.gz: the decoder of make_models.py at a real shape, as ExecuTorch's to_edge makes it. Of metadata alone:
its weights are on torch's meta device and hold no bytes. Takes some minutes.

    python tests/models/real_decoder.py [LAYERS [FILE]]
"""

import gzip
import pathlib
import sys

import make_models
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from torch.export import export


def main():
    layers = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent / f"decoder_{layers}_layers.edge.txt.gz"
    with torch.no_grad(), torch.device("meta"):
        model = make_models.Decoder(vocabulary=32000, dim=4096, heads=32, length=2048, layers=layers).eval()
        inputs = (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
        edge = to_edge(export(model, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)).exported_program()
    out.write_bytes(gzip.compress(str(make_models.strip(edge)).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
