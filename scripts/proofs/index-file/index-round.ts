import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import type { ChildServer } from '../../../test/support/servers/child-server.ts'
import { startReady } from '../../../test/support/servers/child-server.ts'
import { seededRandom } from '../../../test/support/values/seeded-random.ts'
import type { IndexAnswers } from './index-answers.ts'
import { indexAnswers } from './index-answers.ts'
import type { IndexHistory } from './index-history.ts'
import { takeStep } from './index-history.ts'
import type { IndexHarm } from './index-states.ts'
import { harmed, keepIndex, putIndex } from './index-states.ts'

/** A history, and how many states of its index servers are started on. */
export interface IndexRound {
  readonly storeDir: string
  readonly seed: number
  readonly steps: number
  readonly harms: readonly IndexHarm[]
}

/** What servers made of them. */
export interface IndexFinding {
  /** What no client may see. */
  readonly problems: string[]
  /** States of which SQLite said that they are damaged. */
  noticed: number
  /** States with flipped bytes that SQLite did not notice, and of which an answer was another one. */
  unnoticed: number
}

/**
 * Takes random steps, kills the server or stops it, and starts one on each state that the index may have been left in: it has to answer what a server without
 * any index answers. Where bytes were flipped it may be wrong, since SQLite has no sums of its pages, but never fail.
 */
export async function indexRound({ storeDir, seed, steps, harms }: IndexRound): Promise<IndexFinding> {
  const random = seededRandom(seed)
  const folder = join(storeDir, 'default')
  const finding: IndexFinding = { problems: [], noticed: 0, unnoticed: 0 }
  const history: IndexHistory = { artifacts: new Map(), trashed: new Map(), steps: 0 }
  // A clean stop in the midst of it puts the log into the file.
  for (const part of [Math.floor(steps / 2), Math.ceil(steps / 2)]) {
    const { service } = await startReady(storeDir)
    for (let step = 0; step < part; step++) await takeStep({ url: service.url, storeDir }, history, random)
    // Of half of the histories nothing is left in the log, so that flips hit the file.
    if (history.steps < steps || seed % 2 === 0) await service.stop()
    else await service.kill()
  }
  const kept = keepIndex(folder)
  putIndex(folder, {})
  const truth = await answersOfNext(storeDir)
  for (const harm of harms) {
    const { index, told } = harmed(kept, harm, random)
    putIndex(folder, index)
    const damagedBefore = setAside(folder)
    const name = `seed ${seed}, ${told}`
    try {
      const different = differences(truth, await answersOfNext(storeDir))
      const isNoticed = setAside(folder) > damagedBefore
      if (isNoticed) finding.noticed++
      if (different.length === 0) continue
      if (harm === 'flipped' && !isNoticed) finding.unnoticed++
      else finding.problems.push(`${name}: ${different.length} other answers, as of ${different[0]}`)
      if (harm === 'power' && isNoticed) finding.problems.push(`${name}: was taken for damaged`)
    } catch (error) {
      finding.problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return finding
}

async function answersOfNext(storeDir: string): Promise<IndexAnswers> {
  const { service } = await startReady(storeDir)
  try {
    // Twice: what is made anew for one question is there for the next.
    await indexAnswers(service.url)
    const answers = await indexAnswers(service.url)
    assertNoErrors(service)
    return answers
  } finally {
    await service.stop()
  }
}

function assertNoErrors({ errors: [error] }: ChildServer): void {
  if (error !== undefined) throw new Error(`the log says ${error}`)
}

function differences(truth: IndexAnswers, answers: IndexAnswers): string[] {
  return [...truth]
    .filter(([question, answer]) => answers.get(question) !== answer)
    .map(([question]) => question)
}

/** How many files lie beside the index that were damaged. */
function setAside(folder: string): number {
  return readdirSync(folder).filter((name) => /^index\.db\.damaged-.*Z$/.test(name)).length
}
