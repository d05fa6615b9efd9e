export type { CatalogPreset, CatalogTemplate } from './catalog/catalog-template.ts'
export { findPreset, findTemplate, listTemplates } from './catalog/find-in-catalog.ts'
export { templateData, withOwnData } from './catalog/template-data.ts'
export { catalogTypes } from './catalog/types/catalog-types.ts'
