import { Refusal, type RefusalCode } from '../../src/errors.ts'

/** The refusal that `act` ends in; anything else, a result above all, fails the test. */
export function refusalOf(act: () => unknown): Refusal {
  let result: unknown
  try {
    result = act()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`expected a refusal, got ${JSON.stringify(result)}`)
}

/** The same of work that takes time. */
export async function refusalOfAsync(act: () => Promise<unknown>): Promise<Refusal> {
  try {
    await act()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** The code of a refusal of these problems: a key that nobody reads has one of its own. */
export function codeFor({ data }: Refusal, otherwise: RefusalCode): RefusalCode {
  return data.errors?.some(({ type }) => type === 'extra_forbidden') ? 'unknown_field' : otherwise
}
