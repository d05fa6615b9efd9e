import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'libsql'
import { z } from 'zod'
import type { BenchSetting } from '../bench-setting.ts'
import { post } from '../call.ts'
import { type ChildServer, KEY, startBranchpoint } from '../../../test/support/servers/child-server.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { progress } from '../progress.ts'

/** A testset through an application that costs nothing and an evaluator in JavaScript, then one in Python: the second run of each counts. */
export async function measureEvaluations({ folder, evaluatedRows, add }: BenchSetting): Promise<void> {
  const store = join(folder, 'evaluated')
  const service = await startBranchpoint(store)
  const testcases = Array.from({ length: evaluatedRows }, (_, n) => ({
    data: { n, question: `What is ${n} plus one?`, correct_answer: String(n + 1) },
  }))
  await post(service, '/simple/testsets/', { testset: { slug: 'sums', data: { testcases } } }, anything)
  await post(service, '/simple/applications/', { application: { slug: 'echo', data: ECHO } }, anything)
  for (const [runtime, script] of Object.entries(SCRIPTS)) {
    const data = { uri: 'svc:custom:code:v0', runtime, script }
    await post(service, '/simple/evaluators/', { evaluator: { slug: runtime, data } }, anything)
    await evaluate(service, runtime)
    const { took, growth, id } = await evaluate(service, runtime)
    const work = `evaluate ${evaluatedRows} rows with an evaluator in ${runtime}, warm`
    add(
      plainFigure({
        work,
        rounds: [evaluatedRows / (took / 1000)],
        unit: 'rows a second',
        goal: { is: '≥', value: 500 },
      }),
    )
    add(
      plainFigure({
        work: `${work}: growth of the server's resident memory in the second half`,
        rounds: [growth / MB],
        unit: 'MB',
        goal: { is: '≤', value: 20 },
      }),
    )
    add(
      plainFigure({
        work: `${work}: traces stored`,
        rounds: [tracesOf(store, id)],
        unit: 'traces',
        goal: { is: '=', value: evaluatedRows },
      }),
    )
  }
  await service.stop()
}

const MB = 1024 ** 2
const anything = z.unknown()
const ECHO = { uri: 'svc:custom:mock:v0', parameters: { key: 'echo' } }
const SCRIPTS = {
  javascript:
    'function evaluate(inputs, outputs) { return String(inputs.n + 1) === inputs.correct_answer ? 1 : 0 }',
  python:
    'def evaluate(inputs, outputs, trace):\n    return 1.0 if str(inputs["n"] + 1) == inputs["correct_answer"] else 0.0\n',
}

const state = z.object({
  evaluation: z.object({ id: z.string(), state: z.string(), summary: z.object({ done: z.number() }) }),
})

interface Run {
  readonly id: string
  /** Milliseconds. */
  readonly took: number
  /** Of the resident memory, from the middle of the run, the mean of its third quarter, to that of the fourth. */
  readonly growth: number
}

async function evaluate(service: ChildServer, evaluator: string): Promise<Run> {
  const began = performance.now()
  const order = {
    testset_ref: { slug: 'sums' },
    application_ref: { slug: 'echo' },
    evaluator_refs: [{ slug: evaluator }],
    concurrency: 16,
    wait: false,
  }
  let { evaluation } = await post(service, '/evaluations/run', order, state)
  const { id } = evaluation
  const resident: number[] = []
  while (evaluation.state === 'running') {
    await pause(50)
    resident.push(service.resident())
    progress(`evaluate with ${evaluator}: ${evaluation.summary.done} rows`)
    evaluation = (await getEvaluation(service, id)).evaluation
  }
  if (evaluation.state !== 'finished') throw new Error(`the evaluation ${id} is ${evaluation.state}`)
  const took = performance.now() - began
  const quarter = Math.floor(resident.length / 4)
  const growth = mean(resident.slice(3 * quarter)) - mean(resident.slice(2 * quarter, 3 * quarter))
  return { id, took, growth }
}

async function getEvaluation(service: ChildServer, id: string): Promise<z.infer<typeof state>> {
  const response = await fetch(`${service.url}/evaluations/${id}`, {
    headers: { authorization: `ApiKey ${KEY}` },
  })
  return state.parse(await response.json())
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** How many traces of this evaluation are stored. */
function tracesOf(store: string, id: string): number {
  const database = new Database(join(store, 'default', 'traces.db'), { readonly: true })
  try {
    const [row] = database
      .prepare(`SELECT count(*) AS count FROM spans WHERE span_name = 'evaluation' AND record LIKE ?`)
      .all(`%"evaluation_id":"${id}"%`) as { count: number }[] // of this very query
    return row?.count ?? 0
  } finally {
    database.close()
  }
}
