import type { PlainObject } from '../../json/json.ts'
import type { CatalogPreset } from '../catalog/catalog-template.ts'

const score: PlainObject = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'From 0, not at all, to 1, fully.',
}

/** What judges are most often asked for. */
export const judgePresets: readonly CatalogPreset[] = [
  judge({
    key: 'hallucination',
    name: 'Hallucination Detection',
    description: 'Does the output keep to what it was given? Fails outputs that make things up.',
    system:
      'You check answers for claims that nothing supports. A claim is supported when it follows from what the assistant was ' +
      'given, or is beyond doubt common knowledge. Style, length and usefulness do not matter.',
    user:
      'What the assistant was given:\n{{inputs}}\n\nWhat it answered:\n{{outputs}}\n\n' +
      'Look at the claims of the answer one by one. Give score true when all of them are supported, false when any is not.',
    verdict: {
      score: { type: 'boolean', description: 'Whether every claim of the answer is supported.' },
    },
  }),
  judge({
    key: 'conciseness',
    name: 'Conciseness',
    description: 'Does the output say what is asked for and nothing else?',
    system:
      'You judge how concise answers are. A concise answer says all that was asked for, once, in plain words. Repetition, ' +
      'small talk, restating the question and unasked advice all count against it; so does leaving out something needed.',
    user:
      'What the assistant was given:\n{{inputs}}\n\nWhat it answered:\n{{outputs}}\n\n' +
      'Name in one sentence what could go, or what is missing, and give a score.',
    verdict: {
      score,
      comment: { type: 'string', description: 'What could go, or what is missing, in one sentence.' },
    },
  }),
  judge({
    key: 'answer_relevancy',
    name: 'Answer Relevancy',
    description: 'Does the output answer a question, rather than talk around one?',
    system:
      'You judge whether a text commits itself to an answer. You see only the text, not what was asked. A text that evades, ' +
      'is vague, or only says that it does not know answers nothing.',
    user:
      'The text:\n{{outputs}}\n\nWrite the one question that this text answers best. Give score 1 when it does answer it, and 0 ' +
      'when it evades.',
    verdict: {
      question: { type: 'string', description: 'The question that the text answers best.' },
      score: { type: 'number', enum: [0, 1], description: '1 when the text answers it, 0 when it evades.' },
    },
  }),
  judge({
    key: 'helpfulness',
    name: 'Helpfulness',
    description: 'Would the output help whoever asked?',
    system:
      'You judge whether an answer helps whoever asked. It helps when it meets the need behind the request, is right, and can be ' +
      'acted on. Politeness alone helps nobody.',
    user:
      'The request:\n{{inputs}}\n\nThe answer:\n{{outputs}}\n\n' +
      'Weigh in a few sentences what helps and what does not, and then give a score.',
    verdict: {
      reasoning: { type: 'string', description: 'What helps and what does not.' },
      score,
    },
  }),
]

interface Judge {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly system: string
  readonly user: string
  /** The fields that the judge answers with, in the order in which it is to think of them. */
  readonly verdict: PlainObject
}

function judge({ key, name, description, system, user, verdict }: Judge): CatalogPreset {
  const schema = {
    type: 'object',
    properties: verdict,
    required: Object.keys(verdict),
    additionalProperties: false,
  }
  const parameters = {
    prompt_template: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    template_format: 'mustache',
    model: 'gpt-4o-mini',
    response_type: 'json_schema',
    json_schema: { name: 'schema', schema, strict: true },
    version: '5',
  }
  return { key, name, description, categories: ['ai_llm'], parameters }
}
