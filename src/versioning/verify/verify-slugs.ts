import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import { foldSlug, numberedBase, slugProblem } from '../slugs/slug.ts'
import type { Registry } from '../registry.ts'
import { shadowSentence, shadowsOf } from '../slugs/shadowed-slugs.ts'
import type { Finding } from './finding.ts'
import { damage, note } from './finding.ts'

/**
 * Names that git brought and no request could have: slugs of one artifact that differ in case only, which a clone on many a
 * file system would lose (interface 4.7); worth a note are tags that read as another revision's slug (interface 4.14) and names that are no
 * slugs.
 */
export function verifySlugs(artifact: ArtifactView): readonly Finding[] {
  const { variants, tags, source } = artifact
  const findings: Finding[] = []
  const ownSlug = slugProblem(artifact.slug)
  if (ownSlug !== undefined)
    findings.push(damage(`Its slug "${artifact.slug}" ${ownSlug}. Rename the repository's folder.`))
  const names = { variants: variants.map(({ slug }) => slug), 'revision slugs': [...tags.keys()] }
  for (const [what, slugs] of Object.entries(names))
    for (const clash of clashes(what, slugs)) findings.push(clash)
  for (const tag of tags.keys()) {
    const base = numberedBase(tag)
    if (base !== undefined && findVariant(artifact, base))
      findings.push(note(`The tag "${tag}" reads as a version of the variant "${base}".`))
  }
  for (const ref of source.refs.refs.keys()) {
    const [, folder, slug = ''] = /^refs\/(heads|tags)\/(.*)$/.exec(ref) ?? []
    const problem = folder === undefined ? undefined : slugProblem(slug)
    if (problem !== undefined) findings.push(note(`${ref} has no slug for a name: it ${problem}.`))
  }
  return findings
}

/** The slugs of an artifact to which an older one answers where they stand alone, and which: worth a note (decision 40). */
export async function verifyShadows(registry: Registry, artifact: ArtifactView): Promise<readonly Finding[]> {
  const made = [
    ['artifact', artifact.slug] as const,
    ...artifact.variants.map(({ slug }) => ['variant', slug] as const),
    ...Array.from(artifact.tags.keys(), (slug) => ['tag', slug] as const),
  ]
  return (await shadowsOf(registry, artifact, made)).map((shadow) => note(shadowSentence(shadow)))
}

const RENAME = 'Rename one with git.'

function clashes(what: string, slugs: readonly string[]): Finding[] {
  const byFold = new Map<string, string>()
  const findings: Finding[] = []
  for (const slug of slugs) {
    const other = byFold.get(foldSlug(slug))
    if (other !== undefined)
      findings.push(damage(`The ${what} "${other}" and "${slug}" differ in case only. ${RENAME}`))
    byFold.set(foldSlug(slug), slug)
  }
  return findings
}
