"""The second documented import path of ``FewShotManager``."""

from wikigr.answer.few_shot import FewShotManager as FewShotManager
