import { randomInt } from 'node:crypto'
import type { Outcome, Recorder } from './recorder.ts'
import type { AnsweredRevision, RestAnswer } from './rest.ts'
import { post } from './rest.ts'

/** What the clients of a round share. */
export interface SharedWork {
  /** Of server processes over one store; every request goes to any of them. */
  readonly urls: readonly string[]
  /** Applications with a revision, whose default variants have their slugs: slug and variant id. */
  readonly artifacts: readonly { readonly slug: string; readonly variant: string }[]
  readonly environments: readonly string[]
  readonly recorder: Recorder
}

/**
 * A client that commits, compares and sets, merges, deploys, and asks for the latest, again and again, and has everything written down.
 * Registers are named `bot` for the default variant of an application and `@staging` for an environment.
 */
export class RestClient {
  readonly #work: SharedWork
  readonly #name: string
  #count = 0

  constructor(work: SharedWork, name: string) {
    this.#work = work
    this.#name = name
  }

  /** One thing or two, chosen by chance. Throws what no client should be answered, and Unavailable. */
  async step(): Promise<void> {
    const dice = randomInt(100)
    const artifact = any(this.#work.artifacts)
    if (dice < 20) await this.#commit(artifact)
    else if (dice < 30) await this.#commit(artifact, { deploy: any(this.#work.environments) })
    else if (dice < 50) await this.#compareAndSet(artifact)
    else if (dice < 60) await this.#commitThenDeploy(artifact)
    else if (dice < 65) await this.#merge(artifact)
    else await this.look()
  }

  /** The same of what changes nothing. */
  async look(): Promise<void> {
    const dice = randomInt(7)
    const { slug } = any(this.#work.artifacts)
    if (dice < 3) await this.#retrieve(slug)
    else if (dice < 4) await this.#poll(slug)
    else await this.#retrieveDeployed(slug, any(this.#work.environments))
  }

  async #commit(
    artifact: SharedWork['artifacts'][number],
    { deploy, base }: { readonly deploy?: string; readonly base?: Known } = {},
  ): Promise<AnsweredRevision | undefined> {
    const token = this.#token()
    // Both ways to say what the latest has to be.
    const byHeader = randomInt(2) === 0
    const commit = {
      application_variant_id: artifact.variant,
      message: token,
      data: { parameters: { token } },
      ...(deploy === undefined ? {} : { deploy: [deploy] }),
      ...(base && !byHeader ? { base_revision_id: base.id } : {}),
    }
    const headers: Readonly<Record<string, string>> = base && byHeader ? { 'if-match': base.etag } : {}
    return this.#record(
      async () => {
        const answer = await post(
          this.#url(),
          'revisions/commit',
          { application_revision_commit: commit },
          headers,
        )
        if (base && (answer.status === 409 || answer.status === 412)) {
          const refused = { kind: 'refused', token, base: base.version } as const
          return { answer: undefined, outcomes: { [artifact.slug]: refused } }
        }
        const revision = expectRevision(answer)
        const { version } = revision
        return {
          answer: revision,
          outcomes: {
            [artifact.slug]: { kind: 'write', token, version, ...(base ? { base: base.version } : {}) },
            ...(deploy === undefined ? {} : { [`@${deploy}`]: { kind: 'write', token } as const }),
          },
        }
      },
      { token, registers: [artifact.slug, ...(deploy === undefined ? [] : [`@${deploy}`])] },
    )
  }

  async #compareAndSet(artifact: SharedWork['artifacts'][number]): Promise<void> {
    const base = await this.#retrieve(artifact.slug)
    // Now and then long enough for another one to come first.
    if (randomInt(2) === 0) await this.#retrieve(artifact.slug)
    await this.#commit(artifact, { base })
  }

  /** What is deployed was committed for it, so that no deployment finds its revision deployed already and writes nothing. */
  async #commitThenDeploy(artifact: SharedWork['artifacts'][number]): Promise<void> {
    const revision = await this.#commit(artifact)
    const token = this.#token()
    const environment = any(this.#work.environments)
    await this.#record(
      async () => {
        expectRevision(
          await post(this.#url(), 'revisions/deploy', {
            application_revision_ref: { id: revision?.id },
            environment_ref: { slug: environment },
            message: token,
          }),
        )
        return { answer: undefined, outcomes: { [`@${environment}`]: { kind: 'write', token } } }
      },
      { token, registers: [`@${environment}`] },
    )
  }

  /** A fork that adds something of its own, and so has no conflict, whatever is committed meanwhile. */
  async #merge(artifact: SharedWork['artifacts'][number]): Promise<void> {
    const token = this.#token()
    const fork = token.replaceAll('.', '-')
    const source = { application_variant_ref: { id: artifact.variant } }
    const made = await post(this.#url(), 'variants/fork', { application_variant: { slug: fork }, ...source })
    if (made.status !== 200) throw new Error(`a fork was answered ${made.status}: ${made.body.code}`)
    const commit = { application_variant_ref: { slug: fork }, delta: { set: { parameters: { [fork]: 1 } } } }
    expectRevision(await post(this.#url(), 'revisions/commit', { application_revision_commit: commit }))
    await this.#record(
      async () => {
        const answer = await post(this.#url(), 'variants/merge', {
          source: { variant: { slug: fork } },
          target: { variant: { id: artifact.variant } },
          message: token,
        })
        const { version } = expectRevision(answer)
        if (answer.body.merge?.kind === 'up_to_date')
          throw new Error(`a merge found nothing to do, and ${fork} has a commit of its own: a stale read`)
        return { answer: undefined, outcomes: { [artifact.slug]: { kind: 'write', token, version } } }
      },
      { token, registers: [artifact.slug] },
    )
  }

  #retrieve(slug: string): Promise<Known> {
    const reference = any(['application_ref', 'application_variant_ref'])
    return this.#record(async () => {
      const answer = await post(this.#url(), 'revisions/retrieve', { [reference]: { slug } })
      const { id, version, message = '' } = expectRevision(answer)
      const known = { id, version, message, etag: answer.etag }
      return { answer: known, outcomes: { [slug]: readOf(known) } }
    })
  }

  /** Asks twice, the second time only for what is new. */
  async #poll(slug: string): Promise<void> {
    const known = await this.#retrieve(slug)
    await this.#record(async () => {
      const reference = { application_variant_ref: { slug } }
      const answer = await post(this.#url(), 'revisions/retrieve', reference, { 'if-none-match': known.etag })
      if (answer.status === 304) return { answer: undefined, outcomes: { [slug]: readOf(known) } }
      const { version, message = '' } = expectRevision(answer)
      return { answer: undefined, outcomes: { [slug]: readOf({ version, message }) } }
    })
  }

  #retrieveDeployed(slug: string, environment: string): Promise<undefined> {
    return this.#record(async () => {
      const answer = await post(this.#url(), 'revisions/retrieve', {
        environment_ref: { slug: environment },
        application_ref: { slug },
      })
      const { id } = expectRevision(answer)
      const version = answer.body.retrieval_info?.references.environment_revision?.version ?? 0
      const read = { kind: 'read', version, key: `${slug}.revision`, value: id } as const
      return { answer: undefined, outcomes: { [`@${environment}`]: read } }
    })
  }

  #record<T>(
    work: () => Promise<{ readonly answer: T; readonly outcomes: Readonly<Record<string, Outcome>> }>,
    write: { readonly token?: string; readonly registers?: readonly string[] } = {},
  ): Promise<T> {
    return this.#work.recorder.record(this.#name, work, write)
  }

  #token(): string {
    return `${this.#name}.${++this.#count}`
  }

  #url(): string {
    return any(this.#work.urls)
  }
}

/** A latest revision that somebody was told of. */
interface Known {
  readonly id: string
  readonly version: number
  readonly message: string
  readonly etag: string
}

function readOf({ version, message }: Pick<Known, 'version' | 'message'>): Outcome {
  return { kind: 'read', version, key: 'message', value: message }
}

function expectRevision({ status, body }: RestAnswer): AnsweredRevision {
  if (status !== 200 || !body.application_revision) {
    throw new Error(`answered ${status}: ${body.code}: ${body.detail}`)
  }
  return body.application_revision
}

function any<T>(list: readonly T[]): T {
  const chosen = list[randomInt(list.length)]
  if (chosen === undefined) throw new Error('there is nothing to choose from')
  return chosen
}
