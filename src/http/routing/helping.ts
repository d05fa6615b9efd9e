import { HelpfulRefusal } from '../../suggestions/helpful-refusal.ts'
import type { Call, Endpoint } from './endpoint.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** The endpoint, with refusals in its own words. Suggestions go only to keys that may read (interface 3.13). */
export function helping(endpoint: Endpoint, words = endpoint.words): Endpoint {
  const { run, recall } = endpoint
  const word = (family: string): string => (family === words?.family ? words.word : family)
  const tell = async (error: unknown, { mayRead }: Call<never>): Promise<never> => {
    throw error instanceof HelpfulRefusal ? await error.toldTo({ word, mayRead }) : error
  }
  return {
    ...endpoint,
    run: (call) => {
      const answer = run(call)
      return answer instanceof Promise ? answer.catch((error: unknown) => tell(error, call)) : answer
    },
    ...(recall
      ? {
          recall: (call: Call<never>, address: Parameters<typeof recall>[1]) =>
            recall(call, address).catch((error: unknown) => tell(error, call)),
        }
      : {}),
  }
}

/** The endpoints of a surface, which speak of its things as it does. */
export function inWordsOf(context: SurfaceContext, endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.map((endpoint) => ({ ...endpoint, words: wordsOf(context) }))
}

/** How a surface calls the things of its family. */
export function wordsOf({ surface }: SurfaceContext): NonNullable<Endpoint['words']> {
  return { family: surface.family.name, word: surface.singular }
}
