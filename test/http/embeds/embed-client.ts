import { expect } from 'chai'
import {
  type Reply,
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../support/servers/service.ts'

/** An artifact as its creation left it. */
export interface MadeArtifact {
  readonly id: string
  readonly slug: string
  readonly variantId: string
  /** Of its first revision. */
  readonly revisionId: string
}

/** What it is made of, beside its data. */
export interface Making {
  readonly slug?: string
  /** The surface it is made on. */
  readonly of?: SurfaceName
}

/** The surfaces whose revisions are resolved, by their singular. */
export type SurfaceName = 'workflow' | 'application' | 'evaluator' | 'environment'

/** The three over workflows. */
export const WORKFLOW_SURFACES = ['workflow', 'application', 'evaluator'] as const

/** A service of its own with what tests of embeds do all the time; what does not answer a Reply expects a 200. */
export interface EmbedClient {
  readonly service: RunningService
  /** An artifact whose first revision holds the data. */
  make(data: object, making?: Making): Promise<MadeArtifact>
  /** A workflow whose parameters these are. */
  snippet(parameters: object, making?: Making): Promise<MadeArtifact>
  /** A further revision of the default variant, or of the one named. */
  commit(made: MadeArtifact, data: object, more?: object): Promise<any>
  /** A variant forked from the default one's head. */
  fork(made: MadeArtifact, slug: string): Promise<any>
  /** Deploys what the references name; the environment is made if there is none of the slug. */
  deploy(environment: string, references: object): Promise<void>
  archive(path: string): Promise<void>
  resolve(body: object, surface?: SurfaceName): Promise<Reply>
  /** The parameters that these become, and what was done. */
  resolved(parameters: object, options?: object): Promise<{ readonly parameters: any; readonly info: any }>
  /** The refusal to resolve these. */
  refused(parameters: object, options?: object): Promise<Reply>
  stop(): Promise<void>
}

/** Starts the service for a `describe`. */
export async function startEmbeds(options: ServiceOptions = {}): Promise<EmbedClient> {
  const service = await startService(options)
  let made = 0

  const make: EmbedClient['make'] = async (data, { slug = `made-${++made}`, of = 'workflow' } = {}) => {
    const body = await ok(service.post(`/simple/${of}s/`, { [of]: { slug, data } }))
    const { id, variant_id: variantId, revision_id: revisionId } = body[of]
    return { id, slug, variantId, revisionId }
  }
  const resolve: EmbedClient['resolve'] = (body, surface = 'workflow') =>
    service.post(`/${surface}s/revisions/resolve`, body)
  const inline = (parameters: object, more: object): Promise<Reply> =>
    resolve({ workflow_revision: { data: { parameters } }, ...more })

  return {
    service,
    make,
    snippet: (parameters, making) => make({ parameters }, making),
    commit: async ({ variantId }, data, more = {}) => {
      const fields = { workflow_variant_id: variantId, data, ...more }
      const body = await ok(service.post('/workflows/revisions/commit', { workflow_revision_commit: fields }))
      return body.workflow_revision
    },
    fork: async ({ variantId }, slug) => {
      const body = { workflow_variant: { slug }, workflow_variant_ref: { id: variantId } }
      return (await ok(service.post('/workflows/variants/fork', body))).workflow_variant
    },
    deploy: async (environment, references) => {
      const made = await service.post('/environments/', { environment: { slug: environment } })
      expect(made.status, made.text).to.be.oneOf([200, 409])
      const body = { environment_ref: { slug: environment }, ...references }
      await ok(service.post('/workflows/revisions/deploy', body))
    },
    archive: async (path) => void (await ok(service.post(`${path}/archive`))),
    resolve,
    resolved: async (parameters, more = {}) => {
      const body = await ok(inline(parameters, more))
      return { parameters: body.workflow_revision.data.parameters, info: body.resolution_info }
    },
    refused: async (parameters, more = {}) => {
      const reply = await inline(parameters, more)
      expect(reply.status, reply.text).to.be.within(400, 499)
      return reply
    },
    stop: () => service.stop(),
  }
}

/** The body of an answer that must be a 200. */
export async function ok(reply: Promise<Reply>): Promise<any> {
  const { status, text, body } = await reply
  expect(status, text).to.equal(200)
  return body
}

/** A token of form A. */
export function embed(references: object, selector?: object): object {
  return {
    '@svc.embed': { '@svc.references': references, ...(selector && { '@svc.selector': selector }) },
  }
}

/** A token of form B. */
export function longEmbed(references: string, selector?: string): string {
  return `@svc.embed[@svc.references[${references}]${selector === undefined ? '' : `, @svc.selector[${selector}]`}]`
}
