import type { Scenario } from './harness/scenario.ts'
import { documentScenarios } from './scenarios/documents.ts'
import { refusalScenarios } from './scenarios/refusals.ts'
import { serviceScenarios } from './scenarios/services.ts'

/** Everything that is recorded. A new file of scenarios gets its line here. */
export const SCENARIOS: readonly Scenario[] = [
  ...documentScenarios, //
  ...refusalScenarios,
  ...serviceScenarios,
]
