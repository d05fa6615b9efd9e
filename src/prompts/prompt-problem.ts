import type { Json } from '../json/json.ts'

/** What is wrong with a prompt: where (`llm_config.temperature`), what was expected there, and what is there. */
export class PromptProblem extends Error {
  override readonly name = 'PromptProblem'
  readonly path: string
  readonly expected: string
  /** Undefined where something has to be and is not. */
  readonly got: Json | undefined

  constructor(path: string, expected: string, got: Json | undefined) {
    super(`At '${path}', expected ${expected}.`)
    this.path = path
    this.expected = expected
    this.got = got
  }
}
