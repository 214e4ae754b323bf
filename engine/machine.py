"""What this machine has, for choosing a model. Imports no torch: it asks the system and NVIDIA's own tool."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess

from sayso.engine.catalog_choice import Machine

logger = logging.getLogger(__name__)

_ASK_S = 5.0
_MIB = 1 << 20


def this_machine(device: str = "auto") -> Machine:
    """The machine as a model on ``device`` sees it: a GPU does not count when the device is the CPU."""
    gpu_bytes = gpu_memory() if device == "auto" or device.startswith("cuda") else 0
    return Machine(usable_cores(), total_memory(), gpu_bytes)


def usable_cores() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def total_memory() -> int:
    """Bytes of main memory."""
    import psutil

    return int(psutil.virtual_memory().total)


def gpu_memory() -> int:
    """Bytes of the largest NVIDIA GPU, 0 without one."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return 0
    command = [tool, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_ASK_S, check=True).stdout
        return max((int(line) * _MIB for line in told.split()), default=0)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        logger.info("nvidia-smi did not tell the GPU's memory: %s", error)
        return 0
