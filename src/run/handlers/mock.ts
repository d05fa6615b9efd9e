import { setTimeout as pause } from 'node:timers/promises'
import {
  getKey,
  hasKey,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  numberOf,
} from '../../base/json.ts'
import { HandlerFailure, invalidParameter, missingParameter } from './handler-failure.ts'
import {
  type HandlerContext,
  type HandlerDefinition,
  type HandlerRequest,
  type HandlerResult,
  StreamedOutputs,
} from './handler.ts'
import { verdictOn } from './scoring.ts'

/**
 * `svc:custom:mock:v0` (interface 11.24), for tests of code that calls handlers: does what `parameters.key`
 * says, with `parameters.kwargs`. The keys are those of `MOCKS`.
 */
export const mock: HandlerDefinition = {
  key: 'mock',
  kind: 'custom',
  template: {
    description: 'Answers what its parameters tell it to, the same every time; for tests of what calls it.',
    roles: 'both',
    categories: ['custom'],
  },
  example: { parameters: { key: 'score', kwargs: { score: 0.7 } } },
  run,
}

function run(request: HandlerRequest, { untilGone }: HandlerContext): HandlerResult | Promise<HandlerResult> {
  const { parameters } = request
  const key = getKey(parameters, 'key') ?? null
  if (key === null) throw missingParameter('key')
  const kwargs = getKey(parameters, 'kwargs') ?? {}
  const chosen = mockNamed('key', key)
  if (!isJsonObject(kwargs)) throw invalidParameter('kwargs', 'dict', kwargs)
  return chosen({ request, kwargs, untilGone })
}

type Mock = (call: MockCall) => HandlerResult | Promise<HandlerResult>

interface MockCall {
  readonly request: HandlerRequest
  readonly kwargs: JsonObject
  readonly untilGone: HandlerContext['untilGone']
}

const MOCKS: ReadonlyMap<string, Mock> = new Map<string, Mock>([
  ['echo', ({ request }) => request.inputs ?? {}],
  ['static', ({ kwargs }) => getKey(kwargs, 'output') ?? {}],
  [
    'messages',
    ({ kwargs }) => ({ messages: [{ role: 'assistant', content: text(kwargs, 'text', 'mock reply') }] }),
  ],
  ['events', ({ kwargs }) => mockEvents(text(kwargs, 'text', 'mock reply'))],
  ['pass', () => ({ score: 1, success: true })],
  ['fail', () => ({ score: 0, success: false })],
  ['score', ({ kwargs }) => verdictOn(number(kwargs, 'score', 0), number(kwargs, 'threshold', 0.5))],
  ['reflect', ({ request }) => verdictOn(hasOwnResult(request.outputs) ? 1 : 0, 1)],
  [
    'error',
    ({ kwargs }) => {
      throw new HandlerFailure('v0:workflows:mock-error', text(kwargs, 'message', 'mock error'))
    },
  ],
  ['delay', delayed],
])

function mockNamed(path: string, key: Json): Mock {
  const known = typeof key === 'string' ? MOCKS.get(key) : undefined
  if (known) return known
  throw invalidParameter(path, `one of ${[...MOCKS.keys()].join(', ')}`, key)
}

/** Whether these are outputs of an application, not an evaluator's verdict. */
function hasOwnResult(outputs: Json | undefined): boolean {
  return (
    isJsonObject(outputs) &&
    keysOf(outputs).length > 0 &&
    !hasKey(outputs, 'score') &&
    !hasKey(outputs, 'success')
  )
}

/** Longer than any client waits for an invocation. */
const MAX_SECONDS = 600

/**
 * Waits, then runs the mock in `kwargs.then`, which must not be another delay. Ends early when the client is
 * gone.
 */
async function delayed(call: MockCall): Promise<HandlerResult> {
  const { kwargs, untilGone } = call
  const seconds = number(kwargs, 'seconds', 0.1)
  if (seconds < 0 || seconds > MAX_SECONDS)
    throw invalidParameter('kwargs.seconds', `float[0.0, ${MAX_SECONDS}.0]`, getKey(kwargs, 'seconds'))
  const then = getKey(kwargs, 'then') ?? 'pass'
  if (then === 'delay') throw invalidParameter('kwargs.then', 'any key but delay', then)
  const next = mockNamed('kwargs.then', then)
  try {
    await pause(seconds * 1000, undefined, { signal: untilGone() })
  } catch {
    // Only the signal cuts the timer short.
    throw new HandlerFailure('v0:workflows:mock-error', 'The delay was given up: nobody waits for its end.')
  }
  return next(call)
}

function text(kwargs: JsonObject, name: string, otherwise: string): string {
  const value = getKey(kwargs, name) ?? otherwise
  if (typeof value === 'string') return value
  throw invalidParameter(`kwargs.${name}`, 'str', value)
}

function number(kwargs: JsonObject, name: string, otherwise: number): number {
  const value = getKey(kwargs, name) ?? otherwise
  const found = numberOf(value)
  if (found !== undefined && Number.isFinite(found)) return found
  throw invalidParameter(`kwargs.${name}`, 'float', value)
}

/**
 * A reply streamed word by word, in the records of interface 11.24: `message_start`, one `message_delta` per
 * word, `message_end`, `usage`, `done`. A token is a word. The whole equals the answer of the mock
 * `messages`.
 */
function mockEvents(text: string): StreamedOutputs {
  const message = { role: 'assistant', content: text }
  return new StreamedOutputs(records(text), () => ({ messages: [message] }))
}

async function* records(text: string): AsyncGenerator<JsonObject> {
  // Each word with the space before it, so that the deltas add up to the text.
  const words = text.match(/\s*\S+|\s+$/g) ?? []
  yield { type: 'message_start', data: { role: 'assistant' } }
  for (const content of words) yield { type: 'message_delta', data: { content } }
  yield { type: 'message_end', data: { role: 'assistant', content: text } }
  yield { type: 'usage', data: { prompt: 0, completion: words.length, total: words.length } }
  yield { type: 'done', data: {} }
}
