import { expect } from 'chai'
import { AnswerCheck } from '../../proofs/fuzz/answer-check.ts'
import type { ApiDocument, Operation } from '../../../test/support/clients/api-document.ts'
import type { CallerName, FuzzedRequest } from '../../proofs/fuzz/arbitrary/arbitrary-request.ts'

const OPERATION: Operation = {
  name: 'GET /things',
  method: 'GET',
  path: '/things',
  scopes: ['read'],
  parameters: [],
  body: undefined,
  isUpload: false,
  isEndless: false,
  answers: {
    'application/json': { schema: { $ref: '#/components/schemas/Things' } },
    'application/x-ndjson': { schema: { type: 'string' } },
  },
}

const DOCUMENT: ApiDocument = {
  operations: [OPERATION],
  schemas: {
    Things: {
      type: 'object',
      properties: { count: { type: 'integer' } },
      required: ['count'],
      additionalProperties: false,
    },
    Problem: {
      type: 'object',
      properties: { status: { type: 'integer' }, code: { enum: ['a'] } },
      required: ['status', 'code'],
    },
  },
}

describe('fuzzing: the judge of answers', () => {
  const problem = 'application/problem+json'

  it('lets pass what the document says', () => {
    expect(judged(200, { count: 1 })).to.equal(undefined)
    expect(judged(404, { status: 404, code: 'a' }, { type: problem })).to.equal(undefined)
  })

  it('takes records for a JSON value a line', () => {
    const check = new AnswerCheck(DOCUMENT)
    const of = (text: string): string | undefined =>
      check.problemOf({ operation: OPERATION, caller: 'admin' } as FuzzedRequest, {
        status: 200,
        type: 'application/x-ndjson; charset=utf-8',
        text,
      })
    expect(of('{"a":1}\n{"a":2}\n')).to.equal(undefined)
    expect(of('{"a":1}\n{"a":\n')).to.contain('no JSON')
  })

  it('catches a failure of ours, whatever its body', () => {
    for (const status of [500, 502, 503]) {
      expect(judged(status, { status, code: 'a' }, { type: problem })).to.contain(String(status))
    }
  })

  it('catches a member that is missing, of another type, or not documented', () => {
    for (const body of [{}, { count: 'one' }, { count: 1, more: true }])
      expect(judged(200, body)).to.be.a('string')
  })

  it('catches a media type that is not documented', () => {
    expect(judged(200, { count: 1 }, { type: 'text/html' })).to.contain('not documented')
  })

  it('catches a success for somebody who may not', () => {
    for (const caller of ['write', 'stranger', 'nobody'] as const) {
      expect(judged(200, { count: 1 }, { caller })).to.contain(caller)
    }
  })

  it('catches a refusal that is no problem document, or another one’s', () => {
    expect(judged(404, { status: 404, code: 'a' }, { type: 'application/json' })).to.contain('a refusal as')
    expect(judged(404, { status: 404, code: 'b' }, { type: problem })).to.contain('code')
    expect(judged(404, { status: 400, code: 'a' }, { type: problem })).to.contain('another status')
  })
})

function judged(
  status: number,
  body: object,
  { type = 'application/json', caller = 'read' as CallerName } = {},
): string | undefined {
  const request = { operation: OPERATION, caller, address: '/things', headers: {}, body: undefined }
  return new AnswerCheck(DOCUMENT).problemOf(request, { status, type, text: JSON.stringify(body) })
}
