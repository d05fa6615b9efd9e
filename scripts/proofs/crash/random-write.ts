import type { JsonObject } from '../../../src/base/json/json.ts'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import { environmentFamily } from '../../../src/registry/families/environment-surface.ts'
import { queryFamily } from '../../../src/registry/families/query-family.ts'
import { commitFile, createFromFile } from '../../../src/registry/testsets/import/upload-testset.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import {
  archiveArtifact,
  archiveRevision,
  archiveVariant,
  editArtifact,
  editVariant,
} from '../../../src/registry/artifacts/change-artifact.ts'
import { commitRevision } from '../../../src/registry/revisions/commit-revision.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { createVariant } from '../../../src/registry/variants/create-variant.ts'
import { deployRevision } from '../../../src/registry/environments/deploy-revision.ts'
import { mergeVariants } from '../../../src/registry/merge/merge-variants.ts'
import { forkVariant } from '../../../src/registry/variants/fork-variant.ts'
import { defaultKey } from '../../../src/registry/environments/pin.ts'
import { type RevisionLocation, latestOf, readRevisionAt } from '../../../src/registry/revisions/revision.ts'
import { type CrashWrite, type Plan, context } from './crash-write.ts'
import { longText } from './long-text.ts'
import { type CrashServer, LIMITS, STORE, testsets } from './open-server.ts'
import { randomPlace } from './random-place.ts'
import { randomPush } from './random-push.ts'
import { randomRemoval, randomReturn } from './random-removal.ts'
import { randomUpkeep } from './random-upkeep.ts'
import type { Random } from '../../../test/support/values/random.ts'

/** A write of some kind to something that is there; `n` is a number that no other write of the history has. */
export async function randomWrite(
  server: CrashServer,
  random: Random,
  n: number,
  kinds = KINDS,
): Promise<CrashWrite> {
  for (;;) {
    const plan = random.pick(kinds)
    const write = await plan?.(server, random, n)
    if (write) return write
  }
}

const createWorkflow: Plan = async (_, random, n) => ({
  name: `create workflow w${n}`,
  run: async ({ registry }) => {
    const accepted = await workflowFamily.accept(dataOf(n), { loc: [], servicesBase: '' })
    const withVariant = random.chance(0.7)
      ? { revision: { message: `m${n}`, payload: accepted.payload } }
      : {}
    const input = { slug: `w${n}`, header: { name: `W ${n}` }, withVariant, loc: [] }
    return { artifacts: [await createArtifact(registry, workflowFamily, input, context)] }
  },
})

const createEnvironment: Plan = async ({ registry }, _, n) => {
  if ((await registry.index.list(environmentFamily)).length > 2) return undefined
  return {
    name: `create environment e${n}`,
    run: async () => {
      const input = { slug: `e${n}`, header: {}, withVariant: {}, loc: [] }
      return { artifacts: [await createArtifact(registry, environmentFamily, input, context)] }
    },
  }
}

const createQuery: Plan = async (_, __, n) => ({
  name: `create query q${n}`,
  run: async ({ registry }) => {
    const input = { slug: `q${n}`, header: {}, loc: [] }
    return { artifacts: [await createArtifact(registry, queryFamily, input, context)] }
  },
})

const commit: Plan = async (server, random, n) => {
  const place = await randomPlace(server, random, workflowFamily)
  const slug = random.chance(0.2) ? `tag${n}` : undefined
  const data = random.chance(0.02) ? { parameters: { n, long: longText(n) } } : dataOf(n)
  return (
    place && {
      name: `commit m${n} to ${place.variant.slug}`,
      run: async ({ registry }) => {
        const input = { message: `m${n}`, header: {}, loc: [], slug, data }
        return { artifacts: [(await commitRevision(registry, place, input, context)).revision.artifact] }
      },
    }
  )
}

const commitAndDeploy: Plan = async (server, random, n) => {
  const place = await randomPlace(server, random, workflowFamily)
  const environments = [...(await server.registry.index.list(environmentFamily))]
  const to = environments
    .filter(() => random.chance(0.7))
    .flatMap((artifact) => {
      const variant = artifact.defaultVariant
      return variant && artifact.record.deleted_at === undefined ? [{ artifact, variant }] : []
    })
  if (!place || to.length === 0) return undefined
  const artifacts = [place, ...to].map(({ artifact }) => artifact)
  return {
    name: `commit m${n} to ${place.variant.slug} and deploy it to ${to.map(({ artifact }) => artifact.slug).join(', ')}`,
    together: { message: `m${n}`, folders: artifacts.map(({ repository }) => repository.path) },
    run: async ({ registry }) => {
      const input = { message: `m${n}`, header: {}, loc: [], data: dataOf(n) }
      await commitRevision(registry, place, input, context, { to, entity: 'workflow' })
      return { artifacts }
    },
  }
}

const deploy: Plan = async (server, random, n) => {
  const to = await randomPlace(server, random, environmentFamily)
  const place = await revisionOf(server, random)
  return (
    to &&
    place && {
      name: `deploy ${place.variant.slug} to ${to.artifact.slug}`,
      run: async ({ registry }) => {
        const revision = await readRevisionAt(place)
        const request = { entity: 'workflow', message: `m${n}`, loc: [] }
        await deployRevision(registry, revision, to, request, context)
        return { artifacts: [to.artifact, place.artifact] }
      },
    }
  )
}

const undeploy: Plan = async (server, random, n) => {
  const to = await randomPlace(server, random, environmentFamily)
  const what = random.pick([...(await server.registry.index.list(workflowFamily))])
  return (
    to &&
    what && {
      name: `undeploy ${what.slug} from ${to.artifact.slug}`,
      run: async ({ registry }) => {
        const input = { message: `m${n}`, header: {}, loc: [], delta: { remove: [defaultKey(what.slug)] } }
        await commitRevision(registry, to, input, context)
        return { artifacts: [to.artifact, what] }
      },
    }
  )
}

const fork: Plan = async (server, random, n) => {
  const place = await revisionOf(server, random)
  return (
    place && {
      name: `fork ${place.variant.slug} as f${n}`,
      run: async ({ registry }) => {
        const source = { variant: { id: place.variant.id } }
        const input = { slug: `f${n}`, header: {}, loc: [] }
        return { artifacts: [(await forkVariant(registry, workflowFamily, source, input, context)).artifact] }
      },
    }
  )
}

const merge: Plan = async (server, random, n) => {
  const target = await randomPlace(server, random, workflowFamily)
  const variant = target && random.pick(target.artifact.variants)
  if (!variant || variant === target.variant) return undefined
  const source = { variant: { artifact: target.artifact, variant } }
  return {
    name: `merge ${variant.slug} into ${target.variant.slug} (${n})`,
    run: async ({ registry }) => {
      const asked = { source, target, message: `m${n}` }
      const { conflicts } = await mergeVariants(registry, { ...asked, dryRun: true }, context)
      const resolutions = conflicts.map((it) => ({ place: it.place, in: it.in, take: 'source' as const }))
      return { artifacts: [(await mergeVariants(registry, { ...asked, resolutions }, context)).artifact] }
    },
  }
}

const addVariant: Plan = async (server, random, n) => {
  const artifact = random.pick([
    ...(await server.registry.index.list(random.pick([workflowFamily, queryFamily]) ?? workflowFamily)),
  ])
  return (
    artifact && {
      name: `add a variant v${n} to ${artifact.slug}`,
      run: async ({ registry }) => {
        const input = { slug: `v${n}`, header: {}, loc: [] }
        return { artifacts: [(await createVariant(registry, artifact, input, context)).artifact] }
      },
    }
  )
}

const archive: Plan = async (server, random, n) => {
  const place = await revisionOf(server, random)
  // Oftener undone than done, so that an archived artifact does not end a history.
  const action = random.chance(0.4) ? 'archive' : 'unarchive'
  const level = random.below(3)
  return (
    place && {
      name: `${action} something of ${place.artifact.slug} (${n})`,
      run: async ({ registry }) => {
        if (level === 0) await archiveArtifact(registry, place.artifact, action, context)
        else if (level === 1) await archiveVariant(registry, place, action, context)
        else await archiveRevision(registry, place, action, context)
        return { artifacts: [place.artifact] }
      },
    }
  )
}

const edit: Plan = async (server, random, n) => {
  const family = random.pick([workflowFamily, environmentFamily]) ?? workflowFamily
  const place = await randomPlace(server, random, family)
  return (
    place && {
      name: `edit ${place.artifact.slug} (${n})`,
      run: async ({ registry }) => {
        if (random.chance(0.5)) await editArtifact(registry, place.artifact, { name: `N ${n}` }, context)
        else await editVariant(registry, place, { description: `D ${n}` }, context)
        return { artifacts: [place.artifact] }
      },
    }
  )
}

const createTestset: Plan = async (_, __, n) => ({
  name: `create testset t${n} from a file`,
  run: async ({ registry }) => {
    const input = { slug: `t${n}`, header: {}, loc: [] }
    const { artifact } = await createFromFile(registry, testsets, fileOf(n), input, LIMITS, context)
    return { artifacts: [artifact] }
  },
})

const upload: Plan = async (server, random, n) => {
  const place = await randomPlace(server, random, testsets)
  return (
    place && {
      name: `upload a file to ${place.artifact.slug} (${n})`,
      run: async ({ registry }) => {
        const input = { message: `m${n}`, header: {}, loc: [] }
        const { revision: at } = await commitFile(registry, place, fileOf(n), input, LIMITS, context)
        return { artifacts: [at.artifact] }
      },
    }
  )
}

const addRows: Plan = async (server, random, n) => {
  const place = await randomPlace(server, random, testsets)
  return (
    place && {
      name: `add rows to ${place.artifact.slug} (${n})`,
      run: async ({ registry }) => {
        const delta = { rows: { add: [{ data: { n, text: 'added' } }] } }
        const { revision: at } = await commitRevision(
          registry,
          place,
          { header: {}, loc: [], delta },
          context,
        )
        return { artifacts: [at.artifact] }
      },
    }
  )
}

const makeKey: Plan = async (_, __, n) => ({
  name: `make the API key k${n}`,
  run: async ({ fs }) => {
    const { key } = await createApiKey(fs, STORE, { project: 'default', name: `k${n}`, scopes: ['read'] })
    return { artifacts: [], apiKey: key.id }
  },
})

/** Those that stand here oftener happen oftener. */
const KINDS: readonly Plan[] = [
  ...[createWorkflow, createWorkflow, createEnvironment, createTestset, createQuery],
  ...[commit, commit, commit, commit, commit, commit],
  ...[commitAndDeploy, commitAndDeploy, commitAndDeploy, deploy, deploy, undeploy],
  ...[fork, fork, merge, merge, addVariant, archive, archive, edit, edit],
  ...[upload, addRows, addRows, makeKey],
  ...[randomRemoval, randomRemoval, randomRemoval, randomRemoval],
  ...[randomReturn, randomReturn, randomReturn, randomReturn],
  ...[randomPush, randomPush, randomPush, randomUpkeep, randomUpkeep],
]

/** Those of servers that share a log: of repositories, and without the git program, which sees no simulated disk. */
export const SHARED_KINDS = KINDS.filter((kind) => ![makeKey, randomPush, randomUpkeep].includes(kind))

function dataOf(n: number): JsonObject {
  return { parameters: n % 2 === 0 ? { n } : { n, messages: [{ role: 'user', content: `Question ${n}` }] } }
}

function fileOf(n: number) {
  const lines = Array.from({ length: 1 + (n % 7) }, (_, row) => `{"n": ${n % 3}, "row": ${row}}\n`)
  const chunks = async function* (): AsyncIterable<Buffer> {
    yield Buffer.from(lines.join(''))
  }
  return { type: 'jsonl', infer: false, maxBytes: 1024 ** 2, chunks } as const
}

async function revisionOf(server: CrashServer, random: Random): Promise<RevisionLocation | undefined> {
  const place = await randomPlace(server, random, workflowFamily)
  return place && latestOf(place.artifact, place.variant)
}
