/** A repository's place in a store and in a backup: `<project>/<family>/<slug>.git`. */
export interface RepositoryName {
  readonly project: string
  /** The family's folder. */
  readonly family: string
  readonly slug: string
}

/** The name as shown: `default/workflows/support-bot`. */
export function nameOf({ project, family, slug }: RepositoryName): string {
  return `${project}/${family}/${slug}`
}

/** The path relative to a store or backup. */
export function pathOfName(name: RepositoryName): string {
  return `${nameOf(name)}.git`
}
