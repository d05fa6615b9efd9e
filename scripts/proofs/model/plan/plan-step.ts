import type { Planned } from '../expectation.ts'
import type { ModelState } from '../state/model-state.ts'
import { planArchive } from './plan-archive.ts'
import { planCommit } from './plan-commit.ts'
import { planCreate } from './plan-create.ts'
import { planEdit } from './plan-edit.ts'
import { planQuery } from './plan-query.ts'
import { planGet, planLog, planRetrieve } from './plan-read.ts'
import { planFork, planVariant } from './plan-variant.ts'
import type { Step } from '../step.ts'

/** The request that a step is now, and what must come back. */
export function planStep(state: ModelState, step: Step): Planned {
  switch (step.kind) {
    case 'create':
      return planCreate(state, step)
    case 'variant':
      return planVariant(state, step)
    case 'fork':
      return planFork(state, step)
    case 'commit':
      return planCommit(state, step)
    case 'archive':
      return planArchive(state, step)
    case 'edit':
      return planEdit(state, step)
    case 'get':
      return planGet(state, step)
    case 'retrieve':
      return planRetrieve(state, step)
    case 'log':
      return planLog(state, step)
    case 'query':
      return planQuery(state, step)
  }
}
