import type { PlainObject } from '../../../json/json.ts'
import { modelChoices, type ModelChoice } from './model-choices.ts'

/** The id of a language model, with those worth offering by provider, and what a million tokens cost (in US dollars). */
export const modelType: PlainObject = {
  type: 'string',
  default: 'gpt-4o-mini',
  title: 'Model',
  choices: ofEachProvider((models) => models.map(({ id }) => id)),
  'x-svc-type': 'grouped_choice',
  'x-svc-metadata': ofEachProvider((models) =>
    Object.fromEntries(models.flatMap(({ id, price }) => (price ? [[id, { ...price }]] : []))),
  ),
}

function ofEachProvider(make: (models: readonly ModelChoice[]) => PlainObject[string]): PlainObject {
  return Object.fromEntries(
    Object.entries(modelChoices).map(([provider, models]) => [provider, make(models)]),
  )
}
