import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../json/json.ts'
import type { ChatCall } from '../../models/models.ts'
import { withFallbacks } from '../../models/with-fallbacks.ts'
import { withRetries } from '../../models/with-retries.ts'
import type { HandlerContext } from '../handler.ts'
import type { PreparedPrompt } from './prepared-prompt.ts'

/**
 * Makes the call of a prompt, again and elsewhere as its policies say (interface 11.20). `make` is given the call of each
 * attempt. Throws the last `ModelFailure`.
 */
export function callPrompt<T>(
  prompt: PreparedPrompt,
  messages: readonly JsonObject[],
  { signal }: Pick<HandlerContext, 'signal'>,
  make: (call: ChatCall) => Promise<T>,
): Promise<T> {
  // When nobody waits any more the next attempt says so at once.
  const wait = (milliseconds: number): Promise<void> =>
    pause(milliseconds, undefined, { signal }).catch(() => undefined)
  return withFallbacks(prompt.configs, prompt.fallbackPolicy, (config) =>
    withRetries(() => make({ ...config, messages, signal }), prompt.retries, wait),
  )
}
