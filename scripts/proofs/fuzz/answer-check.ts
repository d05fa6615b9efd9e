import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ApiDocument, JsonSchema, Operation } from '../../../test/support/clients/api-document.ts'
import type { CallerName, FuzzedRequest } from './arbitrary/arbitrary-request.ts'

/** An answer, as far as it is judged. */
export interface FuzzedAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Statuses of refusals that mean something is wrong with the service or its store, which a request alone must not bring about. */
const TROUBLE = [500, 501, 502, 503, 504]

/** Judges answers by the document alone. */
export class AnswerCheck {
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()

  constructor({ schemas }: ApiDocument) {
    this.#ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
    this.#ajv.addSchema({ $id: 'http://openapi/', components: { schemas } })
  }

  /** What is wrong with an answer, or undefined. */
  problemOf({ operation, caller }: FuzzedRequest, answer: FuzzedAnswer): string | undefined {
    const { status, type, text } = answer
    if (TROUBLE.includes(status)) return `answered ${status}`
    if (status === 304) return text === '' ? undefined : 'a 304 has a body'
    if (status === 200) {
      return mayAsk(operation, caller)
        ? this.#problemOfSuccess(operation, answer, mayRead(caller))
        : `a key with ${caller} may not`
    }
    if (status < 400) return `answered ${status}`
    // A run that failed is answered in the shape of one that did not.
    if (/\/invoke$/.test(operation.path) && /^application\/json/.test(type)) {
      return this.#problemOfSuccess(operation, answer, true)
    }
    if (!/^application\/problem\+json/.test(type)) return `a refusal as ${type}`
    const problem = this.#invalid('Problem', { $ref: '#/components/schemas/Problem' }, text)
    if (problem !== undefined) return `the problem document: ${problem}`
    return JSON.parse(text).status === status ? undefined : 'the problem document has another status'
  }

  /** Who may not read is answered less, which the document says once for all. */
  #problemOfSuccess(
    { name, answers }: Operation,
    { type, text }: FuzzedAnswer,
    isWhole: boolean,
  ): string | undefined {
    if (answers === undefined) return undefined
    const [bare = ''] = type.split(';')
    const found = Object.entries(answers).find(([documented]) => documented.split(';')[0] === bare)
    if (!found) return `answered ${type}, which is not documented`
    const [, { schema }] = found
    if (bare === RECORDS && schema?.type === 'string' && schema.format === undefined)
      return problemOfRecords(text)
    if (!schema || schema.format === 'binary' || !/json/.test(bare)) return undefined
    const problem = this.#invalid(name, schema, text)
    if (problem === undefined || isWhole) return problem
    return this.#invalid('WithheldAnswer', { $ref: '#/components/schemas/WithheldAnswer' }, text) && problem
  }

  #invalid(name: string, schema: JsonSchema, text: string): string | undefined {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return `is no JSON: ${String(error)}`
    }
    let validate = this.#validators.get(name)
    if (!validate) {
      const absolute = JSON.stringify(schema).replaceAll('"#/components', '"http://openapi/#/components')
      validate = this.#ajv.compile(JSON.parse(absolute) as object)
      this.#validators.set(name, validate)
    }
    if (validate(value)) return undefined
    return this.#ajv.errorsText(validate.errors)
  }
}

/** The media type of an answer that is a JSON value a line. */
const RECORDS = 'application/x-ndjson'

function problemOfRecords(text: string): string | undefined {
  for (const line of text.split('\n').filter((it) => it !== ''))
    try {
      JSON.parse(line)
    } catch (error) {
      return `a line is no JSON: ${String(error)}`
    }
  return undefined
}

function mayRead(caller: CallerName): boolean {
  return caller === 'admin' || caller === 'read'
}

function mayAsk({ scopes }: Operation, caller: CallerName): boolean {
  return scopes.length === 0 || caller === 'admin' || scopes.includes(caller)
}
