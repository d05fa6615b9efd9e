/** The families whose revisions can be compared. */
export type ComparedFamily = 'workflow' | 'testset'

/** An end of a comparison: `v:<variant>`, `r:<revision slug>` or `e:<environment>`. */
export interface End {
  readonly kind: 'variant' | 'revision' | 'environment'
  readonly slug: string
}

const LETTERS = { v: 'variant', r: 'revision', e: 'environment' } as const

/** Parses `<base>...<head>`; undefined if it is not valid. */
export function endsOf(range: string): { readonly base: End; readonly head: End } | undefined {
  const at = range.indexOf('...')
  const [base, head] = at === -1 ? [] : [endOf(range.slice(0, at)), endOf(range.slice(at + 3))]
  return base && head && { base, head }
}

/** Parses an end; undefined if it is not valid. */
export function endOf(text: string): End | undefined {
  const [, letter, slug] = /^([vre]):(.+)$/.exec(text) ?? []
  return letter === undefined || slug === undefined
    ? undefined
    : { kind: LETTERS[letter as keyof typeof LETTERS], slug }
}

/** An end as text in an address. */
export function textOfEnd({ kind, slug }: End): string {
  return `${kind[0] ?? ''}:${slug}`
}

/** An end as a side of `compare` and `merge` (interface 6.2). A revision is named by id: its slug may exist in several artifacts. */
export function sideOf({ kind, slug }: End, artifact: string, revisionId: string) {
  switch (kind) {
    case 'variant':
      return { variant: { slug }, artifact: { slug: artifact } }
    case 'revision':
      return { revision: { id: revisionId } }
    case 'environment':
      return { environment: { slug }, key: `${artifact}.revision` }
  }
}

/** An end as the references of `retrieve`. */
export function endReferences(
  { kind, slug }: End,
  artifact: string,
  family: ComparedFamily,
): Readonly<Record<string, { readonly slug: string }>> {
  switch (kind) {
    case 'variant':
      return { [`${family}_ref`]: { slug: artifact }, [`${family}_variant_ref`]: { slug } }
    case 'revision':
      return { [`${family}_ref`]: { slug: artifact }, [`${family}_revision_ref`]: { slug } }
    case 'environment':
      return { [`${family}_ref`]: { slug: artifact }, environment_ref: { slug } }
  }
}

/** An end in words. */
export function nameOfEnd({ kind, slug }: End): string {
  return kind === 'environment' ? `what runs in ${slug}` : slug
}
