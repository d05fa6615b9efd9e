import type { Intents, KeyedRequest } from '../../access/intents.ts'
import { Refusal, invalid } from '../../errors.ts'
import { PROBLEMS } from '../problem.ts'
import { ClientDisconnected } from './client-abort.ts'
import type { EndpointResponse, Call, Endpoint, Recall } from './endpoint.ts'

/**
 * Answers a request with an `Idempotency-Key`: runs the endpoint the first time, afterwards answers its first result again,
 * as the thing at its address is now (interface 2.25).
 */
export function respondOnce(
  intents: Intents,
  request: KeyedRequest,
  { run, path }: Endpoint,
  recall: Recall<never>,
  call: Call<never>,
): Promise<EndpointResponse> {
  const key = checkIdempotencyKey(request.key)
  return intents.once(
    { ...request, key },
    {
      run: async ({ artifactId, earlier, ...attempt }) => {
        const keyed = { idempotencyKey: key, artifactId, attemptedAt: earlier, attempt }
        const answer = await run({ ...call, context: { ...call.context, ...keyed } })
        if (!answer.address) throw new Error(`${path} can be recalled, but did not say where its result is`)
        return { answer, address: answer.address }
      },
      recall: async (address) => ({ ...(await recall(call, address)), isReplayed: true }),
      isRefusal: (error) =>
        error instanceof Refusal && !(error instanceof ClientDisconnected) && PROBLEMS[error.code][0] < 500,
    },
  )
}

/** The text of an `Idempotency-Key` header if it can be one: it becomes a line of a commit message. */
export function checkIdempotencyKey(text: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(text)) return text
  throw invalid(
    ['header', 'Idempotency-Key'],
    `${JSON.stringify(text.slice(0, 50))} has ${text.length} characters or some that are not printable ASCII; send 1 to ` +
      `255 printable ASCII characters, such as a UUID.`,
    'invalid_idempotency_key',
  )
}
