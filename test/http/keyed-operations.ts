import { expect } from 'chai'
import type { RunningService } from '../support/servers/service.ts'
import type { TestedFamily } from './conformance/tested-family.ts'
import { environments, testsets, workflows } from './conformance/tested-family.ts'
import { siblingsOf, testedFamilies } from './conformance/tested-surface.ts'
import { uploadFormOf } from './upload-form-of.ts'

/** A POST that writes, and how to bring about what it needs. */
export interface Operation {
  readonly name: string
  readonly prepare: (service: RunningService, slug: string) => Promise<{ path: string; body: object }>
}

/** A payload of a workflow. */
export const data = workflows.data('Hi')

/** An artifact with a variant and one revision; a workflow unless another family is named. */
export async function made(service: RunningService, slug: string, { singular, folder, data } = workflows) {
  const { body } = await service.post(`/simple/${folder}`, { [singular]: { slug, data: data('Hi') } })
  return body[singular] as { id: string; variant_id: string; revision_id: string }
}

/** The body of a commit to a workflow. */
export const commitOf = (variant: string, more: object = {}) => ({
  workflow_revision_commit: { workflow_variant_id: variant, message: 'Again', data, ...more },
})

/** What a key makes safe to repeat in every family, each with what its answer depends on. */
function operationsOf(family: TestedFamily): readonly Operation[] {
  const { singular, folder, data, delta } = family
  const specialised = siblingsOf({ family }).at(-1) ?? expect.fail(folder)
  const commit = (variant: string, fields: object) => ({
    path: `/${folder}/revisions/commit`,
    body: { [`${singular}_revision_commit`]: { variant_id: variant, message: 'Again', ...fields } },
  })
  const operations: readonly Operation[] = [
    {
      name: 'create an artifact',
      prepare: async (_, slug) => ({ path: `/${folder}/`, body: { [singular]: { slug, name: 'New' } } }),
    },
    {
      name: 'create an artifact without a slug',
      prepare: async () => ({
        path: `/${specialised.path}`,
        body: { [specialised.singular]: { name: 'New' } },
      }),
    },
    {
      name: 'create an artifact with a chosen id',
      prepare: async (_, slug) => ({
        path: `/${folder}?${singular}_id=${idAsFor(slug)}`,
        body: { [singular]: { name: 'New' } },
      }),
    },
    {
      name: 'simple create',
      prepare: async (_, slug) => ({
        path: `/simple/${folder}`,
        body: { [singular]: { slug, data: data('Hi') } },
      }),
    },
    {
      name: 'simple create without data',
      prepare: async (_, slug) => ({
        path: `/simple/${specialised.path}`,
        body: { [specialised.singular]: { slug } },
      }),
    },
    {
      name: 'create a variant',
      prepare: async (service, slug) => {
        const { id } = await made(service, slug, family)
        return { path: `/${folder}/variants`, body: { [`${singular}_variant`]: { artifact_id: id } } }
      },
    },
    {
      name: 'fork',
      prepare: async (service, slug) => {
        await made(service, slug, family)
        return {
          path: `/${folder}/variants/fork`,
          body: { [`${singular}_variant`]: { slug: `${slug}-fork` }, [`${singular}_variant_ref`]: { slug } },
        }
      },
    },
    {
      name: 'fork under the shared path without a slug',
      prepare: async (service, slug) => {
        await made(service, slug, family)
        return {
          path: '/variants/fork',
          body: { [`${singular}_variant`]: {}, [`${singular}_variant_ref`]: { slug } },
        }
      },
    },
    {
      name: 'commit',
      prepare: async (service, slug) => {
        const { variant_id } = await made(service, slug, family)
        return commit(variant_id, { data: data('Hi', 'again') })
      },
    },
    {
      name: 'commit with a slug and a base',
      prepare: async (service, slug) => {
        const { variant_id, revision_id } = await made(service, slug, family)
        const more = { slug: `${slug}.final`, base_revision_id: revision_id }
        return commit(variant_id, { data: data('last'), ...more })
      },
    },
    {
      name: 'commit a delta',
      prepare: async (service, slug) => {
        const { variant_id } = await made(service, slug, family)
        return commit(variant_id, { delta: delta('more', 'Hi') })
      },
    },
    {
      name: 'merge',
      prepare: async (service, slug) => {
        const { variant_id } = await made(service, slug, family)
        const fork = `${slug}-fork`
        await service.post(`/${folder}/variants/fork`, {
          [`${singular}_variant`]: { slug: fork },
          [`${singular}_variant_ref`]: { slug },
        })
        await service.post(`/${folder}/revisions/commit`, {
          [`${singular}_revision_commit`]: {
            [`${singular}_variant_ref`]: { slug: fork },
            data: data('Hi', 'there'),
          },
        })
        await service.post(
          `/${folder}/revisions/commit`,
          commit(variant_id, { name: 'Mine', data: data('Hi') }).body,
        )
        const [source, target] = [fork, slug].map((it) => ({ variant: { slug: it } }))
        return { path: `/${folder}/variants/merge`, body: { source, target } }
      },
    },
    {
      name: 'revert',
      prepare: async (service, slug) => {
        const { variant_id } = await made(service, slug, family)
        await service.post(
          `/${folder}/revisions/commit`,
          commit(variant_id, { data: data('Hi', 'bad') }).body,
        )
        return { path: `/${folder}/revisions/revert`, body: { revision: { slug, version: 2 } } }
      },
    },
    {
      name: 'restore',
      prepare: async (service, slug) => {
        const { variant_id } = await made(service, slug, family)
        await service.post(
          `/${folder}/revisions/commit`,
          commit(variant_id, { data: data('Hi', 'bad') }).body,
        )
        return { path: `/${folder}/revisions/restore`, body: { revision: { slug, version: 1 } } }
      },
    },
    {
      name: 'first revision without a payload',
      prepare: async (service, slug) => {
        const { body } = await service.post(`/simple/${folder}`, { [singular]: { slug } })
        const { variant_id } = body[singular]
        return { path: `/${folder}/revisions`, body: { [`${singular}_revision`]: { variant_id } } }
      },
    },
    ...(['archive', 'unarchive'] as const).flatMap((action) =>
      (['', 'variants/', 'revisions/', 'simple'] as const).map((level): Operation => ({
        name: `${action} ${level || 'artifact'}`,
        prepare: async (service, slug) => {
          const { id, variant_id, revision_id } = await made(service, slug, family)
          const target = level === 'variants/' ? variant_id : level === 'revisions/' ? revision_id : id
          const path = level === 'simple' ? `/simple/${folder}/${target}` : `/${folder}/${level}${target}`
          if (action === 'unarchive') await service.post(`${path}/archive`)
          return { path: `${path}/${action}`, body: {} }
        },
      })),
    ),
  ]
  return operations.map(({ name, prepare }) => ({ name: `${folder}: ${name}`, prepare }))
}

/** An id of an artifact that no two slugs share. */
function idAsFor(slug: string): string {
  return `01a1fbb1-f5c2-76ee-83de-${Buffer.from(slug).toString('hex').slice(-12).padStart(12, '0')}`
}

const ofWorkflows: readonly Operation[] = [
  {
    name: 'workflows: create from a template',
    prepare: async (_, slug) => ({
      path: '/workflows',
      body: { workflow: { slug, template: 'auto_regex_test', preset: 'contains' } },
    }),
  },
  {
    name: 'workflows: simple create from a template, with a warning',
    prepare: async (_, slug) => {
      const sent = { url: 'https://example.org', headers: { 'X-Key': 'plain' } }
      return { path: '/simple/applications', body: { application: { slug, template: 'hook', data: sent } } }
    },
  },
  {
    name: 'workflows: commit with a warning',
    prepare: async (service, slug) => {
      const { variant_id } = await made(service, slug)
      const sent = { uri: 'user:custom:hook:v0', url: 'https://example.org', headers: { 'X-Key': 'plain' } }
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id, { data: sent }) }
    },
  },
]

const csv = 'mark,n\nHi,1\nmore,2\n'

/** Rows of which two are equal, and two have one dedup id. */
const MEETING = [
  { data: { mark: 'Hi' } },
  { data: { mark: 'Hi' } },
  { data: { mark: 'one', __dedup_id__: 'a' } },
  { data: { mark: 'two', __dedup_id__: 'a' } },
]

const ofTestsets: readonly Operation[] = [
  {
    name: 'testsets: commit a delta to a revision that the testset had',
    prepare: async (service, slug) => {
      const { id, revision_id } = await made(service, slug, testsets)
      const fields = { testset_id: id, testset_revision_id: revision_id, delta: testsets.delta('more') }
      const path = '/testsets/revisions/commit?include_testcases=false'
      return { path, body: { testset_revision_commit: fields } }
    },
  },
  {
    name: 'testsets: commit testcases by their ids',
    prepare: async (service, slug) => {
      const { id } = await made(service, slug, testsets)
      const { body } = await service.get(`/simple/testsets/${id}`)
      const { testcase_ids } = body.testset.data
      const fields = { testset_id: id, data: { testcase_ids } }
      return { path: '/testsets/revisions/commit', body: { testset_revision_commit: fields } }
    },
  },
  {
    name: 'testsets: create one of whose rows two are equal and one gives way',
    prepare: async (_, slug) => ({
      path: '/simple/testsets/',
      body: { testset: { slug, data: { testcases: MEETING } } },
    }),
  },
  {
    name: 'testsets: commit rows of which two are equal and one gives way',
    prepare: async (service, slug) => {
      const { id } = await made(service, slug, testsets)
      const fields = { testset_id: id, data: { testcases: MEETING } }
      return { path: '/testsets/revisions/commit', body: { testset_revision_commit: fields } }
    },
  },
  {
    name: 'testsets: upload a new one',
    prepare: async (_, slug) => ({
      path: '/simple/testsets/upload',
      body: uploadFormOf(csv, { testset_slug: slug, testset_name: 'New', include_testcases: 'false' }),
    }),
  },
  {
    name: 'testsets: upload a new one without a slug',
    prepare: async () => ({ path: '/simple/testsets/upload', body: uploadFormOf(csv) }),
  },
  {
    name: 'testsets: upload to one, and edit its header',
    prepare: async (service, slug) => {
      const { id } = await made(service, slug, testsets)
      const fields = { testset_name: 'Renamed', testset_tags: '{"of":"csv"}' }
      return { path: `/simple/testsets/${id}/upload`, body: uploadFormOf(csv, fields) }
    },
  },
  {
    name: 'testsets: upload to one without a variant',
    prepare: async (service, slug) => {
      const { body } = await service.post('/testsets', { testset: { slug } })
      return { path: `/simple/testsets/${body.testset.id}/upload`, body: uploadFormOf(csv) }
    },
  },
  {
    name: 'testsets: upload to a revision',
    prepare: async (service, slug) => {
      const { revision_id } = await made(service, slug, testsets)
      const fields = { message: 'A file', file_type: 'json' }
      return {
        path: `/testsets/revisions/${revision_id}/upload`,
        body: uploadFormOf('[{"mark":"Hi"},{"mark":"more"}]', fields),
      }
    },
  },
]

const ofEnvironments: readonly Operation[] = [
  {
    name: 'environments: deploy',
    prepare: async (service, slug) => {
      await made(service, slug)
      const body = { workflow_ref: { slug }, environment_ref: { slug: 'production' }, message: 'Go' }
      return { path: '/workflows/revisions/deploy', body }
    },
  },
  {
    name: 'environments: deploy under a key, to one without a variant',
    prepare: async (service, slug) => {
      const { revision_id } = await made(service, slug)
      await service.post('/environments', { environment: { slug } })
      const body = { application_revision_ref: { id: revision_id }, environment_ref: { slug }, key: 'bot' }
      return { path: '/applications/revisions/deploy', body }
    },
  },
  {
    name: 'environments: deploy what is there already',
    prepare: async (service, slug) => {
      await made(service, slug)
      const path = '/evaluators/revisions/deploy'
      const body = { evaluator_variant_ref: { slug }, environment_ref: { slug: 'staging' } }
      await service.post(path, body)
      return { path, body }
    },
  },
  {
    name: 'environments: commit a workflow and deploy it',
    prepare: async (service, slug) => {
      const { variant_id } = await made(service, slug)
      const deploy = ['development', 'production']
      return { path: '/workflows/revisions/commit', body: commitOf(variant_id, { deploy }) }
    },
  },
  ...(['guard', 'unguard'] as const).map((action): Operation => ({
    name: `environments: ${action}`,
    prepare: async (service, slug) => {
      const { id } = await made(service, slug, environments)
      if (action === 'unguard') await service.post(`/simple/environments/${id}/guard`)
      return { path: `/simple/environments/${id}/${action}`, body: {} }
    },
  })),
]

/** Every kind of write that a key makes safe to repeat, each with what its answer depends on. */
export const OPERATIONS: readonly Operation[] = [
  ...testedFamilies.flatMap(operationsOf),
  ...ofWorkflows,
  ...ofTestsets,
  ...ofEnvironments,
]
