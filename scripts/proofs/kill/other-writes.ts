import { randomInt } from 'node:crypto'
import { KEY } from '../../../test/support/servers/child-server.ts'
import { ask } from './ask.ts'
import type { Ledger } from './ledger.ts'
import { randomName } from './random-name.ts'

/**
 * What a client writes beside workflows: deployments, archives, testsets from files and changes of them; and runs of a handler.
 * Whatever is answered goes into the ledger.
 */
export class OtherWrites {
  readonly #ledger: Ledger
  readonly #testsets: string[] = []
  readonly #deployed = new Set<string>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Deploys a revision that was never deployed, so that every deployment is a commit. */
  async deploy(url: string): Promise<void> {
    const revision = [...this.#ledger.revisions.keys()].findLast((id) => !this.#deployed.has(id))
    if (revision === undefined) return
    this.#deployed.add(revision)
    const environment = ['development', 'staging', 'production'][randomInt(3)] ?? ''
    const message = `Deploy ${randomName()}`
    const { deployments } = await ask<{ deployments: readonly { changed: boolean }[] }>(
      url,
      'POST',
      '/workflows/revisions/deploy',
      {
        workflow_revision_ref: { id: revision },
        environment_ref: { slug: environment },
        message,
      },
    )
    // Another client may have deployed it there a moment ago: nothing is committed then.
    if (deployments.some(({ changed }) => changed))
      this.#ledger.deployments.set(message, { environment, revision })
  }

  /** Makes an artifact that nobody else writes to, to be archived and brought back. */
  async createHideable(url: string): Promise<string> {
    const { workflow } = await ask<{ workflow: { id: string } }>(url, 'POST', '/workflows/', {
      workflow: { slug: `hide.${randomName()}` },
    })
    this.#ledger.archived.set(workflow.id, { answered: false, asked: false })
    return workflow.id
  }

  /** Archives an artifact, or brings it back. */
  async toggle(url: string, id: string): Promise<void> {
    const answered = this.#ledger.archived.get(id)?.answered
    const asked = !answered
    this.#ledger.archived.set(id, { answered, asked })
    await ask(url, 'POST', `/workflows/${id}/${asked ? 'archive' : 'unarchive'}`, {})
    this.#ledger.archived.set(id, { answered: asked, asked })
  }

  /** A testset from a file, with a few hundred rows. */
  async upload(url: string): Promise<void> {
    const values = Array.from({ length: randomInt(1, 300) }, randomName)
    const query = `testset_slug=rows.${randomName()}&include_testcases=false`
    const answer = await fetch(`${url}/simple/testsets/upload?${query}`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'text/csv' },
      body: `value\n${values.join('\n')}\n`,
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`the upload answered ${answer.status}: ${text}`)
    // The shape is the interface's; a difference shows as a failed proof.
    const { testset } = JSON.parse(text) as { testset: { id: string; revision_id: string } }
    this.#ledger.rows.set(testset.revision_id, { version: 1, values })
    this.#testsets.push(testset.id)
  }

  /** Adds rows to any testset. */
  async addRows(url: string): Promise<void> {
    const testset = this.#testsets[randomInt(this.#testsets.length || 1)]
    if (testset === undefined) return this.upload(url)
    const values = Array.from({ length: randomInt(1, 4) }, randomName)
    const { testset_revision: made } = await ask<{ testset_revision: { id: string; version: number } }>(
      url,
      'POST',
      '/testsets/revisions/commit?include_testcases=false&include_testcase_ids=false',
      {
        testset_revision_commit: {
          testset_id: testset,
          message: 'Load',
          delta: { rows: { add: values.map((value) => ({ data: { value } })) } },
        },
      },
    )
    this.#ledger.rows.set(made.id, { version: made.version, values })
  }

  /** Runs a handler that needs nobody else. */
  async invoke(url: string): Promise<void> {
    await ask(url, 'POST', '/services/invoke', {
      data: {
        revision: { data: { uri: 'svc:builtin:auto_exact_match:v0', parameters: {} } },
        inputs: { correct_answer: 'Oslo' },
        outputs: 'Oslo',
      },
    })
    this.#ledger.invocations++
  }
}
