import { type Ask, type Route, send } from './call.ts'
import { Unreachable } from './problem.ts'

/**
 * The records of an answer that comes piece by piece (NDJSON), each as its text. An answer in one piece is one record. Throws as `call`
 * does, before the first record and between two.
 */
export async function* callInPieces<R extends Route>(
  route: R,
  ask: Ask<R>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const response = await send(route, ask, signal, 'application/x-ndjson, application/json;q=0.5')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') yield line
    }
  } catch (error) {
    if (signal.aborted) throw error
    throw new Unreachable()
  }
  if (rest.trim() !== '') yield rest
}
