import type { Root } from 'hast';

export declare function highlight(language: string, code: string): Root | undefined;
