"""The second documented import path of ``FewShotManager``."""

from wikigr.agent.few_shot import FewShotManager

__all__ = ["FewShotManager"]
