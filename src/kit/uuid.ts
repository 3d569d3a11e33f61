const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether a text is a uuid, in upper or lower case. */
export const isUuid = (text: string): boolean => uuid.test(text);
