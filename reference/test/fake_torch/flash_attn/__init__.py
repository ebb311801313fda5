"""FlashAttention-4 for the fake PyTorch beside it."""
