import { checkFirstParents } from '../../git/history/check-first-parents.ts'
import { FIRST_PARENTS_FILE } from '../../git/history/first-parent-history.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Registry } from '../registry.ts'
import { missingRefs } from './missing-refs.ts'
import type { Finding } from './finding.ts'
import { damage, derived, findingsOf } from './finding.ts'
import { recordedHeads, verifyHeads } from './verify-heads.ts'
import type { ExpectedMirrors } from './verify-mirrors.ts'
import { verifyMirrors } from './verify-mirrors.ts'
import { verifyRefs } from './verify-refs.ts'
import type { PayloadCheck } from './verify-revisions.ts'
import { verifyRevisions } from './verify-revisions.ts'
import { verifyShadows, verifySlugs } from './verify-slugs.ts'

/** What an artifact is verified against. */
export interface Verification {
  readonly registry: Registry
  readonly mirrors: ExpectedMirrors
  readonly checkPayload: PayloadCheck | undefined
}

/** How many revisions an artifact has, and everything that is wrong with it. */
export interface VerifiedArtifact {
  readonly revisions: number
  readonly findings: readonly Finding[]
}

/** Verifies one artifact, its bytes aside (see `fsck`); nothing is changed but the record of its heads. */
export async function verifyArtifact(
  { registry, mirrors, checkPayload }: Verification,
  artifact: ArtifactView,
): Promise<VerifiedArtifact> {
  let revisions = 0
  // Depths are believed from here on, so the file that keeps them goes first.
  const kept = await findingsOf(() => verifyFirstParents(artifact))
  const decoded = await findingsOf(async () => {
    const { count, findings } = await verifyRevisions(registry, artifact, checkPayload)
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

/** The refs, against what the last verification saw, and against each other. */
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

/** What an id says must be what the artifact is, and lead to it (interface 1.13). */
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
