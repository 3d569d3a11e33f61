import { fieldAliases } from '../../../../src/contract/control/aliases.ts';
import type { Spelling } from '../../../kit/http/lacking.ts';

/** Maps names of the public service to ours. */
export const spelling: Spelling = {
  places: {
    'ResourceSpec-Input': ['ResourceSpec'],
    'ResourceSpec-Output': ['ResourceSpec'],
    LocalObjectReference: ['ResourceSpec', 'image_pull_secrets', 'items'],
    ResourceRequirements: ['Container', 'resources'],
  },
  fields: new Map(fieldAliases.map((alias) => [alias.public, alias.contract])),
};
