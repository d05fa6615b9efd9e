import { checkFirstParents, FIRST_PARENTS_FILE, isOnChain } from '../../git/history.ts'
import { type ArtifactView, findVariant } from '../artifacts/artifact-view.ts'
import type { Registry } from '../store/registry.ts'
import { type Finding, damage, derived, findingsOf, note } from './finding.ts'
import { type ExpectedMirrors, verifyMirrors } from './verify-mirrors.ts'
import { type PayloadCheck, verifyRevisions } from './verify-revisions.ts'
import { foldSlug, numberedBase, slugProblem } from '../slugs/slug.ts'
import { shadowSentence, shadowsOf } from '../slugs/shadowed-slugs.ts'
import { staleFiles } from '../../git/maintenance.ts'
import type { Oid } from '../../git/objects.ts'
import { isRefTarget } from '../../git/refs.ts'
import { CacheFile } from '../../storage/files.ts'

/** What an artifact is verified against. */
export interface Verification {
  readonly registry: Registry
  readonly mirrors: ExpectedMirrors
  readonly checkPayload: PayloadCheck | undefined
}

/** The number of an artifact's revisions, and all findings. */
export interface VerifiedArtifact {
  readonly revisions: number
  readonly findings: readonly Finding[]
}

/** Verifies one artifact except its bytes (see `fsck`); changes only the record of its heads. */
export async function verifyArtifact(
  { registry, mirrors, checkPayload }: Verification,
  artifact: ArtifactView,
): Promise<VerifiedArtifact> {
  let revisions = 0
  // Verify the file of first parents first, because depths are trusted below.
  const kept = await findingsOf(() => verifyFirstParents(artifact))
  const decoded = await findingsOf(async () => {
    const { count, findings } = await verifyRevisions(artifact, checkPayload)
    revisions = count
    return findings
  })
  const others = await Promise.all(
    [
      async () => verifyIdentity(registry, artifact),
      async () => verifySlugs(artifact),
      () => verifyShadows(registry, artifact),
      () => verifyFollowers(registry, artifact),
      () => verifyMirrors(registry, artifact, mirrors),
    ].map(findingsOf),
  )
  return { revisions, findings: [...kept, ...decoded, ...others.flat()] }
}

/** Verifies the refs against the last verification and against each other. */
async function verifyFollowers(registry: Registry, artifact: ArtifactView): Promise<readonly Finding[]> {
  const missing = missingRefs(artifact)
  const recorded = recordedHeads(artifact)
  return [
    ...(await verifyHeads(artifact, missing)),
    ...(await verifyRefs(registry, artifact, { missing, recorded })),
  ]
}

async function verifyFirstParents({ repository }: ArtifactView): Promise<readonly Finding[]> {
  const { fs, path, objects } = repository
  const problem = await checkFirstParents(fs, path, objects)
  if (problem === undefined) return []
  const remove = async (): Promise<string> => {
    fs.remove(`${path}/${FIRST_PARENTS_FILE}`)
    return `removed ${FIRST_PARENTS_FILE}; it is made again`
  }
  return [
    derived(`The derived file ${FIRST_PARENTS_FILE} ${problem}; a server may count versions wrong.`, remove),
  ]
}

/** An id must match the artifact and lead to it (interface 1.13). */
function verifyIdentity(registry: Registry, { id, record, family }: ArtifactView): readonly Finding[] {
  const findings: Finding[] = []
  if (!UUID.test(id)) findings.push(damage(`Its artifact id ${JSON.stringify(id)} is no UUID. ${RESTORE}`))
  if (record.kind !== family.name)
    findings.push(damage(`It is a ${record.kind} in the folder ${family.folder}. Move it where it belongs.`))
  if (!registry.index.hasDigits(id)) findings.push(damage(`Its id ${id} does not lead to it. ${RESTORE}`))
  return findings
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const RESTORE = 'Restore refs/meta/artifact from a mirror.'

/**
 * Names from git that no request could have made. Damage: slugs of one artifact that differ only in case,
 * which a clone on many file systems would lose (interface 4.7). Notes: tags that read as another revision's
 * slug (interface 4.14), and names that are no slugs.
 */
function verifySlugs(artifact: ArtifactView): readonly Finding[] {
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

/** Notes the slugs of an artifact that, given alone, mean an older artifact (decision 40). */
async function verifyShadows(registry: Registry, artifact: ArtifactView): Promise<readonly Finding[]> {
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

/**
 * Finds refs that differ from the registry's records (a fork's branch, HEAD), and files of dead processes. A
 * branch `recorded` at another commit had moved on before it was lost; `verifyHeads` reports it, and it is
 * not repaired.
 */
async function verifyRefs(
  registry: Registry,
  artifact: ArtifactView,
  {
    missing,
    recorded,
  }: { readonly missing: readonly MissingRef[]; readonly recorded: ReadonlyMap<string, Oid> },
): Promise<readonly Finding[]> {
  const { fs, path } = artifact.repository
  const findings: Finding[] = []
  for (const it of missing) {
    const { ref, target } = it
    if ((recorded.get(ref) ?? target) !== target) continue
    if (ref === 'HEAD' || (await isCommit(artifact, target)))
      findings.push(
        derived(`${ref} does not follow from its record; it should be ${target}.`, () =>
          moveRef(registry, artifact, it),
        ),
      )
    else
      findings.push(
        damage(
          `${ref} is gone, and where its record has it begin, ${JSON.stringify(target)}, is no commit here.`,
        ),
      )
  }
  const left = staleFiles(fs, path)
  if (left.length === 0) return findings
  const sweep = async (): Promise<string> => {
    await artifact.repository.sweepLeftovers()
    return `removed ${left.join(', ')}`
  }
  return [...findings, derived(`A dead process left ${left.join(', ')}.`, sweep)]
}

/** A record may come from a backup and contain anything. */
async function isCommit({ repository }: ArtifactView, target: string): Promise<boolean> {
  return isRefTarget('refs/heads/any', target) && (await repository.objects.read(target))?.kind === 'commit'
}

async function moveRef(
  registry: Registry,
  { repository, family, slug }: ArtifactView,
  { ref, target }: MissingRef,
): Promise<string> {
  await repository.transact(async (transaction) => {
    if (ref === 'HEAD' || transaction.ref(ref) === undefined) transaction.setDerivedRef(ref, target)
  })
  await registry.index.takeInOwn(family, slug)
  return `moved ${ref} to ${target}`
}

/** The record's file in the repository's folder. */
const VERIFIED_HEADS_FILE = 'verified-heads'

/**
 * Compares an artifact with the last verification. Every branch and `refs/meta/artifact` must have its
 * recorded head on its first-parent chain; otherwise revisions that clients know are gone or renumbered. Tags
 * must not have moved. If nothing is wrong, the current state is recorded. `missing` are refs that can be
 * restored, which is reported elsewhere.
 *
 * The record is the file `verified-heads`: lines of `<commit> <ref>` and a checksum. It is not part of the
 * repository: clones lack it, and the first verification only writes it. To accept an intended rewrite,
 * delete it.
 */
async function verifyHeads(
  artifact: ArtifactView,
  missing: readonly MissingRef[],
): Promise<readonly Finding[]> {
  const { repository } = artifact
  const file = recordOf(artifact)
  const seen = file.read()
  const now = encodeHeads(artifact)
  if (!seen && repository.fs.stat(file.path)) {
    const rewrite = async (): Promise<string> => {
      file.write(now)
      return `wrote ${VERIFIED_HEADS_FILE} anew`
    }
    return [derived(`${VERIFIED_HEADS_FILE} is damaged; what was verified before is not known.`, rewrite)]
  }
  const findings: Finding[] = []
  for (const [ref, oid] of seen ? decodeHeads(seen) : []) {
    if (missing.some((it) => it.ref === ref && it.target === oid)) continue
    const problem = await problemOf(artifact, ref, oid)
    if (problem !== undefined) findings.push(damage(`${problem} ${remedy(ref, oid)}`))
  }
  if (findings.length === 0 && missing.length === 0 && !seen?.equals(now)) file.write(now)
  return findings
}

/** The refs of the last verification with their commits; empty if there was none. */
function recordedHeads(artifact: ArtifactView): ReadonlyMap<string, Oid> {
  return new Map(decodeHeads(recordOf(artifact).read() ?? Buffer.alloc(0)))
}

function recordOf({ repository: { fs, path } }: ArtifactView): CacheFile {
  return new CacheFile(fs, `${path}/${VERIFIED_HEADS_FILE}`)
}

/** What happened to a ref that held this commit. */
async function problemOf(
  { repository, source }: ArtifactView,
  ref: string,
  before: Oid,
): Promise<string | undefined> {
  const now = source.refs.refs.get(ref)
  if (now === before) return undefined
  if (now === undefined) return `${ref} is gone; it was at ${before}.`
  if (ref.startsWith(TAGS)) return `${ref} was moved from ${before} to ${now}.`
  const { history } = repository
  // A pruned commit is on no chain.
  const isKept =
    (await repository.objects.has(before)) && isOnChain(await history.node(before), await history.node(now))
  return isKept
    ? undefined
    : `The history of ${ref} was rewritten or renumbered: its first-parent chain does not hold ${before} any more.`
}

function remedy(ref: string, before: Oid): string {
  return `Put it back (git update-ref ${ref} ${before}; fetch it from a mirror if it is missing), or, if it was meant, delete ${VERIFIED_HEADS_FILE}.`
}

const TAGS = 'refs/tags/'

function encodeHeads({ source }: ArtifactView): Buffer {
  const lines = [...source.refs.refs]
    .filter(([ref]) => /^refs\/(heads|tags|meta)\//.test(ref))
    .map(([ref, oid]) => `${oid} ${ref}\n`)
    .sort()
  return Buffer.from(lines.join(''))
}

function* decodeHeads(content: Buffer): Generator<readonly [string, Oid]> {
  for (const line of content.toString('utf8').split('\n')) {
    const [oid = '', ref = ''] = line.split(' ')
    if (ref !== '') yield [ref, oid]
  }
}

/** A ref that differs from the registry's records. */
interface MissingRef {
  readonly ref: string
  readonly target: string
}

/**
 * The refs that follow from the registry's own records (interface 15.8): a fork's branch, from its variant's
 * record, and HEAD. Commit messages prove nothing: they may have been pushed.
 */
function missingRefs(artifact: ArtifactView): readonly MissingRef[] {
  return [...missingBranches(artifact), ...missingHead(artifact)]
}

function missingBranches(artifact: ArtifactView): MissingRef[] {
  return artifact.variants.flatMap(({ slug, head, record }) =>
    head === undefined && record.start !== undefined
      ? [{ ref: `refs/heads/${slug}`, target: record.start }]
      : [],
  )
}

function missingHead(artifact: ArtifactView): MissingRef[] {
  const { defaultVariant, source } = artifact
  const named = source.refs.head?.slice('refs/heads/'.length)
  if (!defaultVariant || (named !== undefined && findVariant(artifact, named))) return []
  return [{ ref: 'HEAD', target: `ref: refs/heads/${defaultVariant.slug}` }]
}
