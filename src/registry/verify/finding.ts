import { Refusal } from '../../errors.ts'
import { damageOf } from '../index/damaged-repositories.ts'

/** A result of a verification. */
export interface Finding {
  /** `damage` needs a restore; `derived` data can be rebuilt from sound data; a `note` is no problem. */
  readonly kind: 'damage' | 'derived' | 'note'
  /** What is wrong and, for damage, what to do about it. */
  readonly sentence: string
  /** Rebuilds derived data, and returns what it did. */
  readonly repair?: () => Promise<string>
}

export function damage(sentence: string): Finding {
  return { kind: 'damage', sentence }
}

export function note(sentence: string): Finding {
  return { kind: 'note', sentence }
}

export function derived(sentence: string, repair: () => Promise<string>): Finding {
  return { kind: 'derived', sentence, repair }
}

/** Runs a check; an error that stops it becomes a finding. */
export async function findingsOf(check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await check()
  } catch (error) {
    // An unreadable artifact does not stop the verification of others.
    const reason = error instanceof Refusal ? error : damageOf(error, 'It')
    if (reason) return [damage(reason.message)]
    throw error
  }
}
