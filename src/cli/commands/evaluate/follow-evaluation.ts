import { COMMAND } from '../../../command-name.ts'
import { Refusal } from '../../../errors.ts'
import { parseJson } from '../../../json/parse-json.ts'
import type { Door } from '../backup/ends/door.ts'
import { unreachable } from '../backup/unreachable.ts'
import { progressLine } from '../../progress/progress-line.ts'
import { type ProgressOutput, showProgress } from '../../progress/show-progress.ts'
import { type EvaluationAnswer, evaluationAnswer } from './evaluation-answer.ts'

/**
 * Has the server run an evaluation, shows how far it is, and answers how it ended. The signal interrupts it there. Refuses with what the
 * server says, or how to go on where the connection to it ends.
 */
export async function followEvaluation(
  door: Door,
  path: string,
  body: object,
  { progress, signal }: { readonly progress: ProgressOutput; readonly signal: AbortSignal },
): Promise<EvaluationAnswer> {
  const headers = { ...door.headers, 'content-type': 'application/json', accept: 'application/x-ndjson' }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(door.base + path, request).catch((error: unknown) => {
    throw unreachable(door.base, error)
  })
  if (!response.ok || !response.body) throw await refusalOf(response)
  const began = performance.now()
  let latest: EvaluationAnswer | undefined
  let isStopping = false
  /** It can be stopped once it is known which it is. */
  const stop = (): void => {
    if (!signal.aborted || !latest || isStopping) return
    isStopping = true
    // If that does not work, the stream says how it ends.
    fetch(`${door.base}/evaluations/${latest.id}/stop`, { method: 'POST', headers }).catch(() => undefined)
  }
  signal.addEventListener('abort', stop)
  const hide = showProgress(progress, () => {
    const done = latest?.summary.done ?? 0
    const seconds = (performance.now() - began) / 1000
    return progressLine({ unit: 'rows', done, total: latest?.rows, rows: done, seconds })
  })
  try {
    for await (const line of linesOf(response.body)) {
      const record = evaluationAnswer(parseJson(line))
      if ('message' in record) throw new Refusal('storage_unavailable', record.message)
      latest = record
      stop()
    }
  } catch (error) {
    // fetch throws TypeErrors where a connection breaks off
    throw error instanceof TypeError ? brokenOff(door, latest) : error
  } finally {
    hide()
    signal.removeEventListener('abort', stop)
  }
  if (!latest || latest.state === 'running') throw brokenOff(door, latest)
  return latest
}

/** The command that resumes an evaluation. */
export function howToGoOn(id: string): string {
  return `Go on with: ${COMMAND} evaluate --resume ${id}`
}

function brokenOff(door: Door, latest: EvaluationAnswer | undefined): Refusal {
  const next = latest ? howToGoOn(latest.id) : 'Look with POST /evaluations/query whether it has begun one.'
  return new Refusal(
    'storage_unavailable',
    `The connection to ${door.base} ended before the evaluation did. ${next}`,
  )
}

async function refusalOf(response: Response): Promise<Refusal> {
  const answer = (await response.json().catch(() => undefined)) as { readonly detail?: unknown } | undefined // a problem document
  const why = typeof answer?.detail === 'string' ? answer.detail : `It answered ${response.status}.`
  return new Refusal('storage_unavailable', why)
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
