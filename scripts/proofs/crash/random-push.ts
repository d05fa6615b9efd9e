import { Refusal } from '../../../src/errors.ts'
import {
  parseCommit,
  type ObjectKind,
  type Oid,
  hashObject,
  type TreeEntry,
  encodeTree,
  parseTree,
} from '../../../src/git/objects/object.ts'
import type { PackableObject } from '../../../src/git/packs/pack-writer.ts'
import { encodePack } from '../../../src/git/packs/pack-writer.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import { acceptPush } from '../../../src/registry/push/accept-push.ts'
import type { VariantLocation } from '../../../src/registry/revisions/references.ts'
import { commitBytes } from '../../../test/support/git/commit-bytes.ts'
import type { Plan } from './crash-write.ts'
import { context } from './crash-write.ts'
import { longText } from './long-text.ts'
import { randomPlace } from './random-place.ts'
import type { Random } from '../../../test/support/values/random.ts'

/**
 * A push of a commit or two to some branch of a workflow, or of a new branch and a tag at once (`--atomic`): from the pack on, which git
 * checks in quarantine, it goes the way that every push goes.
 */
export const randomPush: Plan = async (server, random, n) => {
  const place = await randomPlace(server, random, workflowFamily)
  if (!place) return undefined
  const { artifact, variant } = place
  const { repository } = artifact
  const pushed = await newCommits(place, random, n)
  const branch = `refs/heads/${variant.slug}`
  const [news, tag] = [`refs/heads/p${n}`, `refs/tags/pushed${n}`]
  const isNew = random.chance(0.4)
  return {
    name: isNew ? `push ${news} and ${tag}` : `push to ${branch} (${n})`,
    ...(isNew ? { made: { folder: repository.path, refs: [news, tag] } } : {}),
    run: async ({ registry }) => {
      const { signal } = new AbortController()
      const bytes = inOnePiece(encodePack(pushed.objects).pack)
      const incoming = await repository.receive({ bytes, maxBytes: 10_000_000, signal })
      try {
        const { tip: target } = pushed
        const commands = isNew
          ? [news, tag].map((ref) => ({ ref, expected: undefined, target }))
          : [{ ref: branch, expected: variant.head, target }]
        const limits = { maxBlobBytes: 10_000_000 }
        const pusher = { id: 'key:proof', kind: 'key', name: 'proof' }
        const push = { commands, incoming, isAtomic: true, limits, pusher, mayRead: true, signal }
        const outcomes = await acceptPush(registry, artifact, push, context)
        const refused = outcomes.find((outcome) => outcome.refused)?.refused
        // REST says so by an error, a push by its report.
        if (refused) throw new Refusal('revision_conflict', refused.sentence)
        return { artifacts: [artifact] }
      } finally {
        incoming.discard()
      }
    },
  }
}

interface NewCommits {
  readonly tip: Oid
  readonly objects: readonly PackableObject[]
}

/** One or two commits on top of the variant's, seldom so large that the pack is taken over as it is. */
async function newCommits(
  { artifact, variant }: VariantLocation,
  random: Random,
  n: number,
): Promise<NewCommits> {
  const objects: PackableObject[] = []
  const add = (kind: ObjectKind, bytes: Buffer): Oid => {
    const oid = hashObject(kind, bytes)
    objects.push({ oid, kind, bytes })
    return oid
  }
  const read = async (oid: Oid, kind: ObjectKind): Promise<Buffer> =>
    (await artifact.repository.objects.readKind(oid, kind)) ?? Buffer.alloc(0)
  let tip = variant.head
  let others: readonly TreeEntry[] = []
  if (tip !== undefined) {
    const { tree } = parseCommit(await read(tip, 'commit'))
    others = parseTree(await read(tree, 'tree')).filter(({ name }) => name !== 'data.json')
  }
  const long = random.chance(0.15) ? { long: longText(n) } : {}
  for (let count = 1 + random.below(2); count > 0; count--) {
    const text = `${JSON.stringify({ parameters: { n, count, ...long } }, undefined, 2)}\n`
    const data = { mode: '100644', name: 'data.json', oid: add('blob', Buffer.from(text)) } as const
    const tree = add('tree', encodeTree([...others, data]))
    tip = add('commit', commitBytes(tip === undefined ? [] : [tip], `p${n}-${count}\n`, tree))
  }
  return { tip: tip ?? '', objects }
}

async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
