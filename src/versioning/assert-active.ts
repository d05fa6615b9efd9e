import { Refusal } from '../errors.ts'

/** Refuses to write to what is archived (ruling 3.11). */
export function assertActive(
  level: 'artifact' | 'variant',
  slug: string,
  record: { readonly deleted_at?: string | undefined } | undefined,
): void {
  if (record?.deleted_at === undefined) return
  throw new Refusal(
    'archived',
    `The ${level} "${slug}" was archived at ${record.deleted_at}. Unarchive it before you write to it.`,
  )
}
