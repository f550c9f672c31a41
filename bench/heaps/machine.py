"""The first-level data cache of this machine, as the kernel tells of it."""
import pathlib
import platform

CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")


def data_cache():
    """-> name:SIZE:WAYS:LINE, or None where the kernel does not say."""
    for folder in sorted(CACHES.glob("index*")):
        try:
            level, kind, size, ways, line = ((folder / f).read_text().strip() for f in (
                "level", "type", "size", "ways_of_associativity", "coherency_line_size"))
        except OSError:
            continue
        if level == "1" and kind in ("Data", "Unified"):
            return f"now:{size}:{ways}:{line}"
    return None


def model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()
