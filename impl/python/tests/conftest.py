import logging
import pathlib
import sys
import warnings

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

MODELS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "models"


@pytest.fixture(scope="session")
def models():
    """The folder of exported programs."""
    return MODELS


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; left out unless asked for (-m long)")
