"""One thread for torch: these networks are too small to share out, and the tests run beside each other."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)
