/** Something that can be archived. */
export interface Archivable {
  readonly level: 'artifact' | 'variant' | 'revision'
  readonly family: 'workflows' | 'testsets' | 'queries' | 'environments'
  readonly id: string
  /** The slug of its artifact. */
  readonly artifact: string
  /** What people call its artifact: prompt, testset. */
  readonly word: string
  /** The slug of the variant; of an artifact none. */
  readonly variant?: string | undefined
  /** Of a revision. */
  readonly version?: number | undefined
}

/** `support-bot`, `warmer`, `v3`: what stands on the button. */
export function shortNameOf({ level, artifact, variant = '', version }: Archivable): string {
  return level === 'artifact' ? artifact : level === 'variant' ? variant : `v${version}`
}

/** What it is, told apart from the other two: `the prompt support-bot`, `the variant warmer`, `version 3 of warmer`. */
export function fullNameOf({ level, word, artifact, variant = '', version }: Archivable): string {
  if (level === 'artifact') return `the ${word} ${artifact}`
  return level === 'variant' ? `the variant ${variant}` : `version ${version} of ${variant}`
}

type Action = 'archive' | 'unarchive'

/** The route that does it. Every family and level has the same one, in its own words. */
export function archiveRoute({ family, level }: Archivable, action: Action) {
  const below = { artifact: '', variant: '/variants', revision: '/revisions' }[level]
  return `POST /${family}${below}/{id}/${action}` as `POST /workflows/{id}/${Action}`
}
