import { JsonTextError, getKey, type Json, parseJson, stringifyJson } from '../../../base/json.ts'
import { closedObject } from '../../../registry/workflows.ts'
import { HandlerFailure, invalidInputs, typeWord } from '../handler-failure.ts'
import type { Handler, HandlerDefinition } from '../handler.ts'
import { judged, judgedOutputs, neededOutputs, readThreshold, textOf } from '../scoring.ts'
import { callHook } from './call-hook.ts'
import { neededHookUrl } from './needed-hook-url.ts'

/** The handler with its time limit in milliseconds (interface 11.16, 11.15). */
export const autoWebhookTestDefinition: HandlerDefinition = {
  key: 'auto_webhook_test',
  kind: 'builtin',
  schemas: {
    parameters: closedObject(
      {
        webhook_url: {
          type: 'string',
          'x-svc-type': 'text',
          title: 'Address to ask',
          description:
            'Inputs and output are sent there by POST; its answer is the score: a number, true or false, or an object.',
        },
      },
      ['webhook_url'],
    ),
    outputs: { ...judged, type: ['object', 'string'] },
  },
  template: {
    name: 'Webhook test',
    description: 'Asks a web address of yours for the score of the output.',
    roles: 'evaluator',
    categories: ['custom'],
  },
  run: autoWebhookTest(10_000),
}

/**
 * `svc:builtin:auto_webhook_test:v0` (interface 11.16): sends outputs to `parameters.webhook_url` for
 * scoring. A number or boolean in the answer is compared with the threshold; an object or a string becomes
 * the outputs unchanged.
 */
export function autoWebhookTest(timeoutMs: number): Handler {
  return async (request, context) => {
    const { parameters, inputs } = request
    const { allowPrivate } = context.outgoing.policy
    const url = neededHookUrl(getKey(parameters, 'webhook_url'), 'webhook_url', allowPrivate)
    if (!inputs) throw invalidInputs('dict', inputs)
    const output = textOf(neededOutputs(request))
    const threshold = readThreshold(getKey(parameters, 'threshold'))
    const body = stringifyJson({ inputs, output })
    const text = await callHook({ url, headers: new Map(), secrets: [], body, timeoutMs }, context)
    return outputsOf(answered(text), threshold)
  }
}

function answered(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) throw nonsense(`cannot be read as JSON: ${error.message}`)
    throw error
  }
}

function outputsOf(answer: Json, threshold: number): Json {
  const outputs = typeof answer === 'string' ? answer : judgedOutputs(answer, threshold)
  if (outputs !== undefined) return outputs
  throw nonsense(`must be a number, boolean, object or string, but is of type ${typeWord(answer)}.`)
}

function nonsense(sentence: string): HandlerFailure {
  return new HandlerFailure('v0:workflows:custom-hook-client-error', `The answer of the webhook ${sentence}`)
}
