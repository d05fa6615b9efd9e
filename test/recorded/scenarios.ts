import type { Scenario } from './harness/scenario.ts'
import { clientScenarios } from './scenarios/clients-of-others.ts'
import { documentScenarios } from './scenarios/documents.ts'
import { refusalScenarios } from './scenarios/refusals.ts'
import { serviceScenarios } from './scenarios/services.ts'
import { commandScenarios } from './scenarios/commands.ts'
import { folderScenarios } from './scenarios/folders.ts'
import { gitScenarios } from './scenarios/git.ts'
import { limitScenarios } from './scenarios/limits.ts'
import { happeningScenarios } from './scenarios/happenings.ts'
import { releaseScenarios } from './scenarios/releases.ts'
import { resolutionScenarios } from './scenarios/resolutions.ts'
import { testsetFileScenarios } from './scenarios/testset-files.ts'

/** Everything that is recorded. A new file of scenarios gets its line here. */
export const SCENARIOS: readonly Scenario[] = [
  ...commandScenarios,
  ...documentScenarios,
  ...refusalScenarios,
  ...serviceScenarios,
  ...folderScenarios,
  ...gitScenarios,
  ...happeningScenarios,
  ...limitScenarios,
  ...releaseScenarios,
  ...clientScenarios,
  ...resolutionScenarios,
  ...testsetFileScenarios,
]
