/** An artifact, maybe one of its variants, maybe one version: '' is what the server takes by itself (the default, the newest). */
export interface Pinned {
  readonly slug: string
  readonly variant: string
  readonly version: string
}

/** The references of a request that name it. */
export function pinnedReferences(
  family: 'application' | 'testset',
  { slug, variant, version }: Pinned,
): Readonly<Record<string, object>> {
  return {
    [`${family}_ref`]: { slug },
    ...(variant === '' ? {} : { [`${family}_variant_ref`]: { slug: variant } }),
    ...(version === ''
      ? {}
      : { [`${family}_revision_ref`]: { slug: variant || slug, version: Number(version) } }),
  }
}
