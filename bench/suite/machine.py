"""What the figures were measured on: they mean little without it."""

import os
import platform
import subprocess
import time


def description(build):
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "kernel": platform.release(),
        "cpu": _cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_megabytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "load_average_at_start": os.getloadavg()[0],
        "root": os.geteuid() == 0,
        "osproffs": _output(os.path.join(build, "src/fuse/osproffs"), "-V"),
        "revision": _output("git", "describe", "--always", "--dirty"),
    }


def as_text(machine):
    lines = [f"{machine['cpus']} × {machine['cpu']}, {machine['memory_megabytes']:,} MB, kernel {machine['kernel']}"]
    lines.append(" / ".join(machine["osproffs"].splitlines()) + f" / revision {machine['revision']}")
    if machine["load_average_at_start"] > 0.5:
        lines.append(f"CAUTION: load average {machine['load_average_at_start']:.1f}: "
                     "something else runs, and the figures will be worth little")
    return "\n".join(lines)


def _cpu_model():
    with open("/proc/cpuinfo") as info:
        return next((line.partition(":")[2].strip() for line in info if line.startswith("model name")),
                    platform.machine())


def _output(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
