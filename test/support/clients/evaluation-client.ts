import { expect } from 'chai'
import type { RunningService } from '../servers/service.ts'

/** Makes what evaluations are of, and asks for them. */
export class EvaluationClient {
  readonly service: RunningService

  constructor(service: RunningService) {
    this.service = service
  }

  /** A workflow with one revision; answers the revision's id. */
  async workflow(slug: string, data: object, flags: object = { is_application: true }): Promise<string> {
    const { status, text, body } = await this.service.post('/simple/workflows/', {
      workflow: { slug, flags, data },
    })
    expect(status, text).to.equal(200)
    return body.workflow.revision_id
  }

  /** A testset of one revision with these rows. */
  async testset(slug: string, rows: readonly object[]): Promise<void> {
    const { status, text } = await this.service.post('/simple/testsets/', {
      testset: { slug, data: { testcases: rows.map((data) => ({ data })) } },
    })
    expect(status, text).to.equal(200)
  }

  /** Commits another revision of a workflow; answers its id. */
  async commit(slug: string, data: object): Promise<string> {
    const { body: at } = await this.service.post('/workflows/revisions/retrieve', { workflow_ref: { slug } })
    const { status, text, body } = await this.service.post('/workflows/revisions/commit', {
      workflow_revision_commit: {
        workflow_variant_id: at.workflow_revision.workflow_variant_id,
        message: 'Another',
        data,
      },
    })
    expect(status, text).to.equal(200)
    return body.workflow_revision.id
  }

  /** Runs an evaluation to its end and answers its record. */
  async run(order: object): Promise<any> {
    const { status, text, body } = await this.service.post('/evaluations/run', order)
    expect(status, text).to.equal(200)
    return body.evaluation
  }
}
