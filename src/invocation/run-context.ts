import type { HandlerContext } from '../handlers/handler.ts'
import type { OpenSpan } from '../traces/recording/open-span.ts'
import type { InvocationRequest } from './invocation-request.ts'

/** What is the same for every run in a project. */
export type HandlerServices = Omit<HandlerContext, 'signal' | 'isPatient' | 'span'>

/**
 * What a handler may reach in one run. Only a handler that waits for something asks whether anybody waits for it, and the signal is
 * made then. A class, because an object with a getter of its own takes as long to make as an evaluator to run.
 */
export class RunContext implements HandlerContext {
  readonly project: string
  readonly secret: HandlerContext['secret']
  readonly models: HandlerContext['models']
  readonly sandbox: HandlerContext['sandbox']
  readonly outgoing: HandlerContext['outgoing']
  readonly span: OpenSpan
  readonly isPatient: boolean
  readonly #untilGone: () => AbortSignal

  constructor(
    { project, models, sandbox, outgoing }: Omit<HandlerServices, 'secret'>,
    secret: HandlerServices['secret'],
    span: OpenSpan,
    { untilGone, isPatient = false }: Pick<InvocationRequest, 'untilGone' | 'isPatient'>,
  ) {
    this.project = project
    this.secret = secret
    this.models = models
    this.sandbox = sandbox
    this.outgoing = outgoing
    this.span = span
    this.isPatient = isPatient
    this.#untilGone = untilGone
  }

  get signal(): AbortSignal {
    return this.#untilGone()
  }

  /** The same for one who rather waits than is refused: what was done already, and may have cost money, is not thrown away. */
  patient(): RunContext {
    return new RunContext(this, this.secret, this.span, { untilGone: this.#untilGone, isPatient: true })
  }
}
