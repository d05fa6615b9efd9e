import { randomInt } from 'node:crypto'
import { ask } from './ask.ts'
import type { Ledger } from './ledger.ts'
import { OtherWrites } from './other-writes.ts'
import { PushLoad } from './push-load.ts'
import { randomName } from './random-name.ts'

interface Revision {
  readonly id: string
  readonly version: number
}

/**
 * Concurrent clients that write to a service as fast as it answers: mostly commits to a few variants, and named commits, forks,
 * new artifacts, edits, deployments, archives, testsets and runs between them; and one who pushes. Whatever is answered goes into
 * the ledger.
 */
export class WriteLoad {
  readonly #urls: readonly string[]
  readonly #ledger: Ledger
  readonly #variants: string[] = []
  readonly #others: OtherWrites
  #clients: Promise<void>[] = []
  #ending = false

  /** Clients take turns among the urls, which are those of server processes over one store. */
  constructor(urls: readonly string[], ledger: Ledger) {
    this.#urls = urls
    this.#ledger = ledger
    this.#others = new OtherWrites(ledger)
  }

  /** Makes the artifacts to write to, then sets the clients going. */
  async begin({
    artifacts,
    clients,
  }: {
    readonly artifacts: number
    readonly clients: number
  }): Promise<void> {
    for (let number = 0; number < artifacts; number++) await this.#create(this.#url(number))
    for (let number = 0; number < clients; number++) this.#clients.push(this.#work(number))
    this.#clients.push(this.#push(this.#url(clients)))
  }

  /** From now on a request may fail: its server is about to be killed. */
  expectFailures(): void {
    this.#ending = true
  }

  /** Resolves when every client has had its last answer. */
  async end(): Promise<void> {
    this.#ending = true
    await Promise.all(this.#clients)
    this.#clients = []
  }

  async #work(number: number): Promise<void> {
    const url = this.#url(number)
    const own = this.#variants[number % this.#variants.length] ?? ''
    const others = this.#others
    let artifact: string | undefined
    let hideable: string | undefined
    while (!this.#ending) {
      const dice = randomInt(100)
      try {
        if (dice < 40) await this.#commit(url, randomInt(3) === 0 ? this.#anyVariant() : own)
        else if (dice < 45) await this.#commitAndDeploy(url, this.#anyVariant())
        else if (dice < 52) await this.#commit(url, this.#anyVariant(), `named.${randomName()}`)
        else if (dice < 58) await this.#fork(url)
        else if (dice < 63 || artifact === undefined) artifact = await this.#create(url)
        else if (dice < 67) await this.#rename(url, artifact)
        else if (dice < 75) await others.deploy(url)
        else if (dice < 78 || hideable === undefined) hideable = await others.createHideable(url)
        else if (dice < 83) await others.toggle(url, hideable)
        else if (dice < 86) await others.upload(url)
        else if (dice < 94) await others.addRows(url)
        else await others.invoke(url)
      } catch (error) {
        if (!this.#ending) this.#ledger.failures.push(String(error))
      }
    }
  }

  async #push(url: string): Promise<void> {
    const pusher = new PushLoad(url, [...this.#ledger.artifacts.values()][0] ?? '', this.#ledger)
    try {
      await pusher.begin()
      while (!this.#ending) await pusher.step()
    } catch (error) {
      if (!this.#ending) this.#ledger.failures.push(String(error))
    } finally {
      pusher.end()
    }
  }

  async #commit(url: string, variant: string, slug?: string): Promise<void> {
    const data = somePayload()
    const { workflow_revision } = await ask<{ workflow_revision: Revision }>(
      url,
      'POST',
      '/workflows/revisions/commit',
      { workflow_revision_commit: { workflow_variant_id: variant, message: 'Load', slug, data } },
    )
    this.#ledger.revisions.set(workflow_revision.id, { version: workflow_revision.version, data, slug })
  }

  async #commitAndDeploy(url: string, variant: string): Promise<void> {
    const environment = randomInt(2) === 0 ? 'staging' : 'production'
    const [data, message] = [somePayload(), `Joint ${randomName()}`]
    const body = {
      workflow_revision_commit: { workflow_variant_id: variant, message, data, deploy: [environment] },
    }
    this.#ledger.joint.set(message, { variant, environment, body })
    const { workflow_revision } = await ask<{ workflow_revision: Revision }>(
      url,
      'POST',
      '/workflows/revisions/commit',
      body,
      message,
    )
    const { id, version } = workflow_revision
    this.#ledger.revisions.set(id, { version, data, slug: undefined })
    this.#ledger.deployments.set(message, { environment, revision: id })
  }

  async #fork(url: string): Promise<void> {
    const slug = `fork.${randomName()}`
    const { workflow_variant } = await ask<{ workflow_variant: { id: string } }>(
      url,
      'POST',
      '/workflows/variants/fork',
      { workflow_variant: { slug }, workflow_variant_ref: { id: this.#anyVariant() } },
    )
    this.#ledger.variants.set(workflow_variant.id, slug)
    this.#variants.push(workflow_variant.id)
  }

  async #create(url: string): Promise<string> {
    const slug = `load.${randomName()}`
    const data = somePayload()
    const { workflow } = await ask<{ workflow: { id: string; variant_id: string; revision_id: string } }>(
      url,
      'POST',
      '/simple/workflows',
      { workflow: { slug, data } },
    )
    this.#ledger.artifacts.set(workflow.id, slug)
    this.#ledger.variants.set(workflow.variant_id, slug)
    this.#ledger.revisions.set(workflow.revision_id, { version: 1, data, slug: undefined })
    this.#variants.push(workflow.variant_id)
    return workflow.id
  }

  async #rename(url: string, artifact: string): Promise<void> {
    const name = randomName()
    const before = this.#ledger.names.get(artifact)
    this.#ledger.names.set(artifact, { answered: before?.answered, asked: name })
    await ask(url, 'PUT', `/workflows/${artifact}`, { workflow: { name } })
    this.#ledger.names.set(artifact, { answered: name, asked: name })
  }

  #url(number: number): string {
    return this.#urls[number % this.#urls.length] ?? ''
  }

  #anyVariant(): string {
    return this.#variants[randomInt(this.#variants.length)] ?? ''
  }
}

/** Unlike any other, and mostly small. */
function somePayload(): object {
  return { parameters: { value: randomName(), text: 'x'.repeat(randomInt(10) === 0 ? 20_000 : 200) } }
}
