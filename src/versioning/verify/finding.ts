import { Refusal } from '../../errors.ts'
import { damageOf } from '../index/damaged-repositories.ts'

/** Something that a verification found in a repository. */
export interface Finding {
  /**
   * `damage` stays until somebody restores what is damaged; `derived` follows from what is sound and can be made again; a `note`
   * is worth knowing and nothing wrong.
   */
  readonly kind: 'damage' | 'derived' | 'note'
  /** What is wrong and, for damage, what to do about it. */
  readonly sentence: string
  /** Puts in order what is derived, and answers what it did. */
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

/** What the check finds; what keeps it from looking further is a finding, too. */
export async function findingsOf(check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await check()
  } catch (error) {
    // One that nobody may read ends no verification of the others.
    const reason = error instanceof Refusal ? error : damageOf(error, 'It')
    if (reason) return [damage(reason.message)]
    throw error
  }
}
