import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import type { Oid } from '../../git/objects.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { MirrorTargets } from '../environments/mirrors.ts'
import { mirrorRef, mirrorTargets } from '../environments/mirrors.ts'
import type { Registry } from '../store/registry.ts'
import type { Finding } from './finding.ts'
import { derived, note } from './finding.ts'

/** The mirrors of a project's environments as they should be. */
export interface ExpectedMirrors {
  /** By artifact id, then by ref. */
  readonly byArtifact: ReadonlyMap<string, ReadonlyMap<string, Oid>>
  /** Refs of environments that name missing targets: their mirrors are not judged. */
  readonly unsure: ReadonlySet<string>
}

/** Reads the targets of every environment of the project. */
export async function expectedMirrors(registry: Registry): Promise<ExpectedMirrors> {
  const byArtifact = new Map<string, Map<string, Oid>>()
  const unsure = new Set<string>()
  for (const environment of await registry.index.list(registry.environments)) {
    const ref = mirrorRef(environment)
    const { targets, isWhole } = await targetsOf(registry, environment)
    if (!isWhole) unsure.add(ref)
    for (const [artifactId, oid] of targets) {
      const mirrors = byArtifact.get(artifactId) ?? new Map<string, Oid>()
      byArtifact.set(artifactId, mirrors.set(ref, oid))
    }
  }
  return { byArtifact, unsure }
}

/** The targets of a damaged environment are unknown. */
async function targetsOf(registry: Registry, environment: ArtifactView): Promise<MirrorTargets> {
  try {
    return await mirrorTargets(registry, environment)
  } catch (error) {
    if (error instanceof Refusal) return { targets: NONE, isWhole: false, isSure: false }
    throw error
  }
}

/**
 * Finds mirror refs of an artifact that differ from their environments, which are authoritative (interface
 * 9.11). Waits for a deployment in progress.
 */
export async function verifyMirrors(
  registry: Registry,
  artifact: ArtifactView,
  expected: ExpectedMirrors,
): Promise<readonly Finding[]> {
  const before = new Map(differing(artifact, expected).map(({ ref, is }) => [ref, is]))
  if (before.size === 0) return []
  await pause(MIRROR_PAUSE_MS)
  const later = await registry.index.findByDigits(artifact.id)
  if (!later) return []
  // A mirror that moved since is being maintained; its new difference is the next deployment.
  return differing(later, await expectedMirrors(registry))
    .filter(({ ref, is }) => before.has(ref) && before.get(ref) === is)
    .map(({ ref, sentence, isSure }) =>
      isSure ? derived(sentence, () => moveMirror(registry, later, ref)) : note(sentence),
    )
}

const MIRROR_PAUSE_MS = 100

interface Difference {
  readonly ref: string
  /** What the mirror holds; undefined if there is none. */
  readonly is: Oid | undefined
  readonly sentence: string
  readonly isSure: boolean
}

function differing({ id, source }: ArtifactView, { byArtifact, unsure }: ExpectedMirrors): Difference[] {
  const expected = byArtifact.get(id) ?? NONE
  const refs = [...source.refs.refs.keys()].filter((ref) => ref.startsWith('refs/environments/'))
  return [...new Set([...refs, ...expected.keys()])].flatMap((ref) => {
    const [is, should] = [source.refs.refs.get(ref), expected.get(ref)]
    if (is === should) return []
    const sentence = `${ref} mirrors ${is ?? 'nothing'}, and the environment says ${should ?? 'nothing'}.`
    const isSure = !unsure.has(ref)
    return [
      {
        ref,
        is,
        isSure,
        sentence: isSure ? sentence : `${sentence} Not all that is deployed there is here.`,
      },
    ]
  })
}

const NONE: ReadonlyMap<string, Oid> = new Map()

/** Moves the mirror to the environment's current target. */
async function moveMirror(registry: Registry, artifact: ArtifactView, ref: string): Promise<string> {
  let target: Oid | undefined
  await artifact.repository.transact(async (transaction) => {
    target = (await expectedMirrors(registry)).byArtifact.get(artifact.id)?.get(ref)
    if (transaction.ref(ref) === target) return
    if (target === undefined) transaction.removeDerivedRef(ref)
    else transaction.move(ref, target)
  })
  await registry.index.takeInOwn(artifact.family, artifact.slug)
  return target === undefined ? `removed ${ref}` : `moved ${ref} to ${target}`
}
