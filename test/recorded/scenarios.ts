import type { Scenario } from './harness/scenario.ts'
import { documentScenarios } from './scenarios/documents.ts'

/** Everything that is recorded. A new file of scenarios gets its line here. */
export const SCENARIOS: readonly Scenario[] = [...documentScenarios]
