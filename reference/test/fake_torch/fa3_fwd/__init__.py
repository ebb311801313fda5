"""FlashAttention-3 for the fake PyTorch beside it, in the package that is looked for second."""
